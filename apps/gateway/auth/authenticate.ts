import type { FastifyInstance } from 'fastify';
import { sendProblem } from '#lib/http';
import { DroverError } from '#lib/kernel';
import type { GatewayTokens } from './gateway-tokens.js';

/** The paths that need no token of the server's, as they stand in the request: every other one does. */
const PUBLIC_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

export const PROOF_HEADER = 'drover-gateway-proof';

/**
 * Lets in only the server, before anything else of a request is looked at, and proves on every
 * answer to it, errors too, that it has reached the gateway.
 */
export function authenticateServer(fastify: FastifyInstance, tokens: GatewayTokens): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (PUBLIC_PATHS.has(request.url)) return done();
    try {
      const tokenId = tokens.verifyServer(request.headers.authorization);
      void reply.header(PROOF_HEADER, tokens.prove(tokenId));
    } catch (error) {
      sendProblem(request, reply, error as DroverError);
      return;
    }
    done();
  });
}
