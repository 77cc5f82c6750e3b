import { existsSync } from 'node:fs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { built } from '#lib/kernel';
import { API_PREFIX } from '../server/configure.js';
import { Problem } from './api-errors.js';
import { withNullTypes } from './null-types.js';
import { operationId } from './operation-id.js';
import { withPublicNames } from './public-names.js';
import { describeErrors } from './refine.js';
import { describeShortIds } from './short-ids.js';
import { TAGS } from './tags.js';

export interface OpenApiOptions {
  version: string;
  /** The server's address for clients, if it differs from the page's. */
  publicUrl?: string;
  /** Additions of other parts of the application to the document. */
  refine?: (document: OpenAPIObject) => void;
}

/** The OpenAPI document of all routes. */
function createOpenApiDocument(
  app: NestFastifyApplication,
  options: OpenApiOptions,
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Drover')
    .setDescription(
      `A control plane for fleets of agents. All paths of the API begin with /${API_PREFIX}; ` +
        'errors are application/problem+json with a stable `code`.',
    )
    .setVersion(options.version)
    .setOpenAPIVersion('3.1.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer(options.publicUrl ?? '/');
  for (const [name, words] of Object.entries(TAGS)) builder.addTag(name, words);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [Problem],
    operationIdFactory: operationId,
  });
  describeShortIds(document);
  describeErrors(document);
  options.refine?.(document);
  return withNullTypes(withPublicNames(document));
}

/**
 * The page stands beside the dashboard, so it may run only its own files. Only styles are inline.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
};

/** The files of the page in an installed package. A clone has them in node_modules. */
const SHIPPED_PAGE = built('swagger-ui');

/** Serves the document at /docs/openapi.json, and at /docs a page to read and try it. */
export function setupOpenApi(app: NestFastifyApplication, options: OpenApiOptions): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/docs')) return;
    route.onRequest = (_request, reply, done) => {
      void reply.headers(HEADERS);
      done();
    };
  });
  // Created on the first visit, because it takes longer than the rest of the start and most servers
  // never need it.
  SwaggerModule.setup('docs', app, () => createOpenApiDocument(app, options), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Drover API',
    customSwaggerUiPath: existsSync(SHIPPED_PAGE) ? SHIPPED_PAGE : undefined,
  });
}
