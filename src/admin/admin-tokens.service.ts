import { Injectable } from '@nestjs/common';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { type AdminJwt, Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { IssuerKeys, IssuerUnavailableError } from '../outbound/issuer-keys.js';
import { Clock } from '../runtime/clock.js';
import { failureText } from '../runtime/failure-text.js';
import { type Administrator, type Role, ROLES, withoutIncluded } from './role.js';

/** Accepted signature algorithms. HMAC and `none` are missing, because neither needs the issuer's private key. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Tolerated difference between the issuer's clock and ours, in seconds. */
const TOLERANCE_SECONDS = 30;
/** The end of the year 9999 in Unix seconds. A later time has no form that our answers document. */
const LATEST_EXPIRY_SECONDS = 253_402_300_799;
const SUBJECT = /^[\x21-\x7e]{1,200}$/;

/** JWT claims that occur only in ID tokens. OpenID Connect Core 1.0, section 3.3.2.11. */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 'nonce'];
/** The values of the `typ` header, or of Keycloak's `typ` claim, that mark an ID token. */
const ID_TOKEN_TYPE = /^(?:application\/)?id(?:[-_]?token)?(?:\+jwt)?$/i;

/** Identifies administrators by tokens of an OpenID provider, if `ADMIN_JWT_ISSUER` is set. */
@Injectable()
export class AdminTokens {
  private readonly logger = new BoundedLogger('AdminTokens');

  constructor(
    private readonly configuration: Configuration,
    private readonly keys: IssuerKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * The administrator of a token; undefined if the issuer did not sign the token for our audience, or the token has
   * expired, is not valid yet, or is an ID token.
   * @throws CroupierError INTERNAL if the issuer's keys cannot be fetched
   */
  async identify(token: string): Promise<Administrator | undefined> {
    const { adminJwt } = this.configuration;
    const payload = adminJwt && (await this.verified(token, adminJwt));
    if (!payload?.sub || !SUBJECT.test(payload.sub)) return undefined;
    return {
      id: `jwt:${payload.sub}`,
      name: payload.sub,
      roles: rolesIn(payload[adminJwt!.roleClaim]),
      expiresAt: new Date(Math.min(payload.exp!, LATEST_EXPIRY_SECONDS) * 1000),
    };
  }

  private async verified(
    token: string,
    { issuer, audience, typ }: AdminJwt,
  ): Promise<JWTPayload | undefined> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys.keyOf, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: this.clock.now(),
        // jose compares `typ` as RFC 7515 requires: case-insensitively, with or without `application/`.
        ...(typ && { typ }),
      });
      if (!isIdToken(payload, protectedHeader.typ)) return payload;
      this.logger.warn({ msg: 'admin token refused', reason: 'ID_TOKEN' });
      return undefined;
    } catch (error) {
      if (error instanceof IssuerUnavailableError) {
        this.logger.warn({
          msg: 'the keys of the issuer of admin tokens cannot be fetched',
          detail: failureText(error),
        });
        throw new CroupierError('INTERNAL');
      }
      if (!(error instanceof errors.JOSEError)) throw error;
      this.logger.warn({ msg: 'admin token refused', reason: error.code });
      return undefined;
    }
  }
}

/**
 * Whether the token is an ID token. An ID token names the user who has signed in; it does not grant access to an API.
 * Cognito marks ID tokens with the claim `token_use`.
 */
function isIdToken(payload: JWTPayload, headerType: string | undefined): boolean {
  if (ID_TOKEN_CLAIMS.some((claim) => claim in payload)) return true;
  if (payload['token_use'] === 'id') return true;
  return [headerType, payload['typ']].some((type) => typeof type === 'string' && ID_TOKEN_TYPE.test(type));
}

/** The claim is a role or a list of roles. Unknown roles are ignored. */
function rolesIn(claim: unknown): Role[] {
  const claimed: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return withoutIncluded(ROLES.filter((role) => claimed.includes(role)));
}
