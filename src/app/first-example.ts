/**
 * Commands of the first example, which the README has too: they submit two products of the sandbox, wait for
 * their job, and read the records as a table. They need `URL` and `KEY`.
 */
export const firstExample: readonly string[] = [
  `JOB=$(curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
  `  -d '{"items": [{"asin": "B0GLN01001", "country": "de"}, {"asin": "B0GLN01002", "country": "de"}]}' \\`,
  `  "$URL/v1/mkte/pdp/bulk/submit" | jq -r .job_id)`,
  `curl -s -H "Authorization: Bearer $KEY" "$URL/v1/jobs/$JOB?wait=30s" | jq -c '{status, success, failed, cost}'`,
  `curl -s -H "Authorization: Bearer $KEY" "$URL/v1/jobs/$JOB/results?format=csv&columns=standard"`,
];
