import { ApiSecurity } from '@nestjs/swagger';
import { SIGNATURE } from '../openapi/signature.js';

/** Documents that every route of this controller is signed; what that means is added where the document is made. */
export const ApiSigned = (): ClassDecorator => ApiSecurity(SIGNATURE);
