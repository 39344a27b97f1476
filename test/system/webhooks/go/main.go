// Command webhooks verifies the messages of a JSON list in a file, and prints whether each is genuine.
package main

import (
	"encoding/json"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type message struct {
	Secret  string            `json:"secret"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var messages []message
	if err := json.Unmarshal(text, &messages); err != nil {
		panic(err)
	}
	genuine := []bool{}
	for _, message := range messages {
		webhook, err := standardwebhooks.NewWebhook(message.Secret)
		if err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range message.Headers {
			headers.Set(name, value)
		}
		genuine = append(genuine, webhook.Verify([]byte(message.Body), headers) == nil)
	}
	if err := json.NewEncoder(os.Stdout).Encode(genuine); err != nil {
		panic(err)
	}
}
