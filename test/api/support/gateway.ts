import jwt from 'jsonwebtoken';
import { newId } from '#lib/kernel';
import { GATEWAY_SECRET } from '../../support/app.js';
import type { Route } from './openapi.js';

const GATEWAY_ID = 'a-gateway';

/**
 * Gateways are of the installation and see the sessions of all workspaces, so these routes have a guard
 * of their own. Whom it lets in is a matter of the library's tests (libs/work/runs/sessions).
 */
export function isGatewayRoute({ name }: Pick<Route, 'name'>): boolean {
  return name.startsWith('POST /gateway/');
}

/** Signed anew whenever it is looked at: it lasts a minute, and requests are made long before they are sent. */
export function gatewayHeaders(): Record<string, string> {
  return {
    get authorization() {
      const token = jwt.sign({ typ: 'gateway' }, GATEWAY_SECRET, {
        issuer: 'drover-gateway',
        audience: 'drover:gateway',
        subject: GATEWAY_ID,
        jwtid: newId(),
        expiresIn: 60,
      });
      return `Bearer ${token}`;
    },
  };
}

/** What a gateway's token and its body must agree on. */
export const GATEWAY_BODY = { gatewayId: GATEWAY_ID };
