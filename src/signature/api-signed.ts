import { ApiSecurity } from '@nestjs/swagger';
import { SIGNATURE } from '../openapi/signature.js';

/** Documents that every route of this controller is signed; `openapi/signature.ts` adds the details. */
export const ApiSigned = (): ClassDecorator => ApiSecurity(SIGNATURE);
