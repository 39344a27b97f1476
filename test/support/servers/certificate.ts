import tls from 'node:tls';

/** Self-signed certificate for "shop.example" and 127.0.0.1. */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/rFsxKAr8YJIOpu/
Z7bQnbE76GUrYh9xwg9lDpaE/hihRANCAAQfFIOTDm+8R2+bI5K93VvMrPFbgwEP
XWr99qiybEgRn9H/R+/SzIwtCutSQe7oRnALsfSS1nnNY8Tyz+VXzQQy
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBpTCCAUqgAwIBAgIUK24mvfryW5MZyY/Yxom7u4W6a9QwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMc2hvcC5leGFtcGxlMCAXDTI2MTEyMTE0MTAyNloYDzIxMjYx
MDI4MTQxMDI2WjAXMRUwEwYDVQQDDAxzaG9wLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQfFIOTDm+8R2+bI5K93VvMrPFbgwEPXWr99qiybEgRn9H/
R+/SzIwtCutSQe7oRnALsfSS1nnNY8Tyz+VXzQQyo3IwcDAdBgNVHQ4EFgQUPBBk
xfy2J4EmyvG6SDvLNJA2KV0wHwYDVR0jBBgwFoAUPBBkxfy2J4EmyvG6SDvLNJA2
KV0wHQYDVR0RBBYwFIIMc2hvcC5leGFtcGxlhwR/AAABMA8GA1UdEwEB/wQFMAMB
Af8wCgYIKoZIzj0EAwIDSQAwRgIhAJXpfi6gaXrpzyatDW36isDHJLBWz35sjd2t
UI5jEb9HAiEAlkmTdM7w96RdSKJRz0HJxdzCqiLmOusvBehMyUlTxm4=
-----END CERTIFICATE-----
`,
};

/** Makes connections of this process trust the certificate. */
export function trustCertificate(): void {
  tls.setDefaultCACertificates([...tls.getCACertificates(), certificate.cert]);
}
