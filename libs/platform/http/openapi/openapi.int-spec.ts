import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Logger } from '#lib/observability';
import { createFastifyAdapter } from '../server/adapter.js';
import { configureHttp } from '../server/configure.js';
import { Int, NestedList, Text, TextList } from '../dto/fields.js';
import { ApiErrors } from './api-errors.js';
import { setupOpenApi } from './setup.js';

class ItemDto {
  @Text({ max: 10, optional: true, nullable: true }) note?: string | null;
}

class ThingDto {
  @Text({ max: 20, example: 'A title' }) title!: string;
  @Int(1, 10, { optional: true }) priority?: number;
  @TextList({ maxItems: 3, item: { max: 5 }, optional: true }) tags?: string[];
  @NestedList(() => ItemDto, { maxItems: 2, optional: true }) items?: ItemDto[];
}

@Controller('things')
@ApiErrors('malformed_json', 'validation_failed')
class ThingsController {
  @Post()
  @ApiErrors('validation_failed', 'agent_draining')
  create(@Body() body: ThingDto) {
    return body;
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

describe('the OpenAPI document', () => {
  let app: NestFastifyApplication;
  let url: string;
  let document: OpenAPIObject;

  beforeAll(async () => {
    app = await NestFactory.create<NestFastifyApplication>(ThingsModule, createFastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    configureHttp(app, { logger: Logger.create({ level: 'silent' }) });
    setupOpenApi(app, { version: '1.2.3', publicUrl: 'https://drover.example' });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
    document = (await (await fetch(`${url}/docs/openapi.json`)).json()) as OpenAPIObject;
  });

  afterAll(() => app.close());

  it('the document and its page are served', async () => {
    expect(document.info.version).toBe('1.2.3');
    expect(document.servers).toEqual([{ url: 'https://drover.example' }]);
    for (const path of ['/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-init.js']) {
      const { status, headers } = await fetch(url + path);
      expect(status).toBe(200);
      expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    }
  });

  it('fields are described by the decorators that check them', () => {
    expect(document.components?.schemas?.Thing).toEqual({
      type: 'object',
      required: ['title'],
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 20, example: 'A title' },
        priority: { type: 'integer', minimum: 1, maximum: 10 },
        tags: {
          type: 'array',
          minItems: 0,
          maxItems: 3,
          items: { type: 'string', minLength: 1, maxLength: 5 },
        },
        items: {
          type: 'array',
          minItems: 0,
          maxItems: 2,
          items: { $ref: '#/components/schemas/Item' },
        },
      },
    });
    expect(document.components?.schemas?.Item).toMatchObject({
      properties: { note: { type: ['string', 'null'] } },
    });
  });

  it('the document names each error once, with an example', () => {
    const responses = document.paths['/api/v1/things']?.post?.responses as Record<
      string,
      { description: string; content: Record<string, { examples: object }> }
    >;
    expect(responses['409']?.description).toBe('`agent_draining`: The agent is draining');
    const bad = responses['400'];
    expect(bad?.description.match(/`validation_failed`/g)).toHaveLength(1);
    expect(bad?.description).toContain('`malformed_json`');
    expect(Object.keys(bad?.content['application/problem+json']?.examples ?? {}).sort()).toEqual([
      'malformed_json',
      'validation_failed',
    ]);
  });
});
