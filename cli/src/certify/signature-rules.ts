/** The rules about signatures of the contract, section 1, that the cases for providers and for wallets hold, verbatim. */
export const SIGNATURE_RULES = {
  accepts: 'A server accepts every correctly signed call, however the names of its headers are spelled.',
  refuses:
    'A server refuses a call that lacks one of the four headers, or whose X-Signature is not the signature of the call.',
  tenant: 'A server refuses a call whose X-Tenant-ID is not exactly its own id.',
  time: 'A server accepts a timestamp that differs from its clock by up to 300 seconds, and refuses any other.',
  bytes:
    'The signature is verified over the bytes of the body as they were received, not over JSON that was parsed and written again.',
  nonceOnce:
    'A nonce is accepted once, whatever the route, and is remembered for at least 601 seconds: timestamps are whole seconds, and valid ones span 600.',
  nonceClaim:
    'A nonce is claimed after the signature is verified, so a refused call does not use up a nonce.',
  nonceText: 'Nonces are compared character by character: upper and lower case differ.',
  refused: 'A refused call is not carried out, and uses up no id.',
} as const;
