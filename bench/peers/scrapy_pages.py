"""Scrapy with a folder for its state (JOBDIR) and a feed of JSON lines, over the commands of peer.mjs."""

import json
import os
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

FOLDER = os.environ["PEER_FOLDER"]
FEED = os.path.join(FOLDER, "records.jsonl")
CONCURRENCY = int(os.environ["PEER_CONCURRENCY"])


class PagesSpider(scrapy.Spider):
    name = "pages"

    def __init__(self):
        with open(os.environ["PEER_PATHS"]) as paths:
            self.start_urls = [os.environ["PEER_ORIGIN"] + path.strip() for path in paths]

    def parse(self, response):
        item = response.json()["data"]["item"]
        names = ["title", "currency", "price_min", "price_max", "brand", "item_rating", "description", "models"]
        yield {"id": item["item_id"], **{name: item[name] for name in names}}


def run():
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": CONCURRENCY,
            "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
            "DOWNLOAD_DELAY": 0,
            "JOBDIR": os.path.join(FOLDER, "job"),
            "FEEDS": {FEED: {"format": "jsonlines", "overwrite": False}},
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(PagesSpider)
    process.start()


print("ready", flush=True)
for command in sys.stdin:
    if command.strip() == "run":
        run()
        print("done", flush=True)
    else:
        ids = []
        with open(FEED) as feed:
            for line in feed:
                try:
                    ids.append(json.loads(line)["id"])
                except ValueError:
                    pass  # A line that a kill cut off.
        print(json.dumps({"records": len(ids), "distinct": len(set(ids))}), flush=True)
