import { ApiSecurity } from '@nestjs/swagger';
import { SIGNATURE } from '../openapi/signature.js';

/** Declares in the OpenAPI documents that requests are signed. `openapi/signature.ts` adds the details. */
export const ApiSigned = (): ClassDecorator => ApiSecurity(SIGNATURE);
