import { MktaService } from "./gleaner/mkta/v1/mkta_pb.ts";
import { MktbService } from "./gleaner/mktb/v1/mktb_pb.ts";
import { MktcService } from "./gleaner/mktc/v1/mktc_pb.ts";
import { MktdService } from "./gleaner/mktd/v1/mktd_pb.ts";
import { MkteService } from "./gleaner/mkte/v1/mkte_pb.ts";
import { MktfService } from "./gleaner/mktf/v1/mktf_pb.ts";
import { SitesService } from "./gleaner/sites/v1/sites_pb.ts";
import type { DescService } from "@bufbuild/protobuf";

export { MktaService, MktbService, MktcService, MktdService, MkteService, MktfService, SitesService };

/** Services of the marketplaces, by the name of their file. */
export const marketServices: readonly DescService[] = [MktaService, MktbService, MktcService, MktdService, MkteService, MktfService, SitesService];
