import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX } from '#lib/http';
import { built } from '#lib/kernel';

const BUILT = built('dashboard');

/** The first parts of its pages' addresses. All are index.html, and the script selects the page. */
const PAGES = [
  'tasks',
  'agents',
  'coordinator',
  'budgets',
  'webhooks',
  'questions',
  'audit',
  'settings',
  'schedules',
  'templates',
  'dead-letter',
  'reviews',
  'repositories',
  'projects',
  'usage',
  'models',
  'inbound-hooks',
  'notices',
  'users',
  'invitation',
  'sign-in',
];

/** The page loads nothing from elsewhere, runs no inline script or style, and cannot be framed. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * Serves the dashboard's files, and its page at each of its addresses.
 *
 * @returns the handler of `/` for browsers; undefined if the dashboard was not built
 */
export function serveDashboard(
  fastify: FastifyInstance,
): ((reply: FastifyReply) => void) | undefined {
  const index = join(BUILT, 'index.html');
  if (!existsSync(index)) return undefined;
  const page = readFileSync(index, 'utf8');
  const show = (reply: FastifyReply) => {
    void reply
      .headers(HEADERS)
      // The page names the files of this version, which the next version does not have.
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(page);
  };
  const showPage = (_: FastifyRequest, reply: FastifyReply) => show(reply);
  for (const name of PAGES) {
    fastify.get(`/${name}`, showPage);
    fastify.get(`/${name}/*`, showPage);
  }
  // Browsers get the dashboard's page for an unknown address. Programs get a problem document.
  fastify.addHook('onRequest', (request, reply, done) => {
    const isOfBrowser = request.method === 'GET' && request.headers.accept?.includes('text/html');
    if (!request.is404 || !isOfBrowser || request.url.startsWith(`/${API_PREFIX}/`)) return done();
    show(reply.code(404).header('vary', 'accept'));
  });
  void fastify.register(fastifyStatic, {
    root: join(BUILT, 'assets'),
    prefix: '/assets/',
    // File names contain a hash of the content.
    immutable: true,
    maxAge: '1y',
    index: false,
    decorateReply: false,
    preCompressed: true,
    setHeaders: (response) => {
      response.header('x-content-type-options', 'nosniff');
    },
  });
  return show;
}
