"""Verifies the messages of a JSON list in a file, and prints whether each is genuine."""
import json
import sys

from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError


def is_genuine(message):
    try:
        Webhook(message["secret"]).verify(message["body"], message["headers"])
        return True
    except WebhookVerificationError:
        return False


print(json.dumps([is_genuine(message) for message in json.load(open(sys.argv[1], encoding="utf-8"))]))
