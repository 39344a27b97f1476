import { regions } from './regions.ts';

/** Form of the ids of pictures: 32 hexadecimal digits; newer ones begin with the region of the upload. */
const pictureId = /^(?:[0-9a-f]{32}|[a-z]{2,5}-\d{8}-[0-9a-z]{4,8}-[0-9a-z]{8,20})$/;

/** Returns the address of the small version of a picture; null for text that is not the id of a picture. */
export function pictureUrl(id: string, region: string): string | null {
  if (!Object.hasOwn(regions, region) || !pictureId.test(id)) return null;
  return `https://down-${region}.img.susercontent.com/file/${id}_tn`;
}
