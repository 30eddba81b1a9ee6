export {
  DEFAULT_TOLERANCE_SECONDS,
  signRequest,
  verifyPlatformSignature,
  type HeadersLike,
  type RejectionReason,
  type SignatureHeaders,
  type SignInput,
  type Verification,
  type VerifyInput,
} from './signature.js';
