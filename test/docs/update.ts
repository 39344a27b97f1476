// Updates the responses of the examples in the given pages:
// `node test/docs/update.ts docs/kinds/*.md`.
import { readFileSync, writeFileSync } from 'node:fs';
import { abridge, parseExamples, remember, runExample } from './example.ts';
import { startPlace } from './place.ts';

const place = await startPlace();
try {
  for (const path of process.argv.slice(2)) {
    const page = readFileSync(path, 'utf8');
    const variables = await place.variables();
    let written = '';
    let at = 0;
    for (const example of parseExamples(page)) {
      const printed = await runExample(example, variables);
      remember(printed, variables);
      if (example.place === null) continue;
      // Readers cannot use the addresses and ports of this run.
      const text = JSON.stringify(abridge(printed), null, 2)
        .replaceAll(variables.URL!, 'http://127.0.0.1:8080')
        .replaceAll(variables.STORE!, 'https://store.example')
        .replaceAll(new URL(variables.STORE!).host, 'store.example')
        .replaceAll(/https:\/\/[a-z0-9.-]+\.(com|net|test|de)\//g, 'https://site.example/')
        .replaceAll(/https:\/\/[a-z0-9.-]+\.(com|net|test|de)"/g, 'https://site.example"');
      written += `${page.slice(at, example.place.from)}${text}\n`;
      at = example.place.to;
    }
    writeFileSync(path, written + page.slice(at));
    console.log(path);
  }
} finally {
  await place.stop();
}
