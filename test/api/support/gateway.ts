import jwt from 'jsonwebtoken';
import { newId } from '#lib/kernel';
import { GATEWAY_SECRET } from '../../support/app.js';
import type { Route } from './openapi.js';

const GATEWAY_ID = 'a-gateway';

/**
 * Gateways belong to the installation and see the sessions of all workspaces, so these routes have
 * their own guard. The library's tests check it (libs/work/runs/sessions).
 */
export function isGatewayRoute({ name }: Pick<Route, 'name'>): boolean {
  return name.startsWith('POST /gateway/');
}

/** Each read signs it anew: it lasts a minute, and requests are built long before they are sent. */
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

/** The id that a gateway's token and its body must both name. */
export const GATEWAY_BODY = { gatewayId: GATEWAY_ID };
