// Runs one job with the client that protoc-gen-go and protoc-gen-connect-go generate: prints its counts as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"

	faultv1 "gleaner/gen/go/gleaner/fault/v1"
	jobv1 "gleaner/gen/go/gleaner/job/v1"
	"gleaner/gen/go/gleaner/job/v1/jobv1connect"
	mktbv1 "gleaner/gen/go/gleaner/mktb/v1"
	"gleaner/gen/go/gleaner/mktb/v1/mktbv1connect"
)

func authenticate(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		request.Header().Set("Authorization", "Bearer "+os.Getenv("GLEANER_API_KEY"))
		return next(ctx, request)
	}
}

func main() {
	ctx, url := context.Background(), os.Getenv("GLEANER_URL")
	option := connect.WithInterceptors(connect.UnaryInterceptorFunc(authenticate))
	market := mktbv1connect.NewMktbServiceClient(http.DefaultClient, url, option)
	jobs := jobv1connect.NewJobServiceClient(http.DefaultClient, url, option)

	_, err := market.SubmitPdpBulk(ctx, connect.NewRequest(&mktbv1.SubmitPdpBulkRequest{}))
	if code := faultCode(err); code != "invalid" {
		log.Fatalf("an empty submit failed with %q: %v", code, err)
	}
	item := &mktbv1.PdpItem{ProductKey: "barang-1001", ShopDomain: "toko-7"}
	request := &mktbv1.SubmitPdpBulkRequest{Items: []*mktbv1.PdpItem{item}}
	submitted, err := market.SubmitPdpBulk(ctx, connect.NewRequest(request))
	if err != nil {
		log.Fatal(err)
	}
	for {
		read := connect.NewRequest(&jobv1.GetJobRequest{JobId: submitted.Msg.JobId})
		read.Header().Set("gleaner-wait", "30")
		job, err := jobs.GetJob(ctx, read)
		if err != nil {
			log.Fatal(err)
		}
		if job.Msg.Ended {
			counts := map[string]int32{"success": job.Msg.Success, "total": job.Msg.Total}
			if err := json.NewEncoder(os.Stdout).Encode(counts); err != nil {
				log.Fatal(err)
			}
			return
		}
	}
}

// faultCode returns the code of the first fault among the details of an error.
func faultCode(err error) string {
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return ""
	}
	for _, detail := range failed.Details() {
		if value, err := detail.Value(); err == nil {
			if fault, ok := value.(*faultv1.Fault); ok {
				return fault.Code
			}
		}
	}
	return ""
}
