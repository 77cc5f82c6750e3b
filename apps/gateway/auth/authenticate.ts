import type { FastifyInstance } from 'fastify';
import { sendProblem } from '#lib/http';
import { DroverError } from '#lib/kernel';
import type { GatewayTokens } from './gateway-tokens.js';

/** The paths that need no server token, as they are in the request. Every other path needs one. */
const PUBLIC_PATHS = new Set(['/healthz', '/readyz', '/metrics']);

export const PROOF_HEADER = 'drover-gateway-proof';

/**
 * Admits only the server, before it reads any other part of a request. On every answer to the
 * server, errors too, it proves that the answer comes from the gateway.
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
