import type { FastifyInstance, FastifyReply } from 'fastify';

/** The page without a dashboard. It asks nobody and reveals nothing of the installation. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Drover</title>
<h1>Drover</h1>
<p>This is a server of Drover, a control plane for fleets of AI agents. Browsers find the dashboard here, at servers with the role api.</p>
<ul>
<li><a href="/docs">/docs</a>: the endpoints, to read and to try
<li><a href="/docs/openapi.json">/docs/openapi.json</a>: the same for programs
<li>/api/v1: the API; <code>POST /api/v1/auth/login</code> signs a user in, programs use an API key
<li><a href="/health/coordinator">/health/coordinator</a>: how the parts are
<li><a href="/readyz">/readyz</a>, <a href="/healthz">/healthz</a>: for load balancers
</ul>
</html>
`;

/**
 * Serves a page at `/` that says where to go.
 *
 * @param dashboard serves the dashboard to browsers instead
 */
export function showFrontPage(
  fastify: FastifyInstance,
  dashboard: ((reply: FastifyReply) => void) | undefined,
): void {
  fastify.get('/', (request, reply) => {
    reply.header('vary', 'accept');
    if (dashboard && request.headers.accept?.includes('text/html')) return dashboard(reply);
    void reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'")
      .send(PAGE);
  });
}
