import { createConfig, lintFromString } from '@redocly/openapi-core';
import { OPERATION_ID } from '#lib/http';

const RULES = {
  'operation-description': 'error',
  'operation-summary': 'error',
  'operation-tag-defined': 'error',
  'rule/operation-id': {
    subject: { type: 'Operation', property: 'operationId' },
    assertions: { defined: true, pattern: String(OPERATION_ID) },
    message:
      'The operationId must be a verb and what it is done to, such as createTask: name one in `@ApiOperation`',
    severity: 'error',
  },
  'rule/schema-name': {
    subject: { type: 'NamedSchemas' },
    assertions: { notPattern: '/(Dto|Doc|View)$/' },
    message: 'A schema has the name of a thing, such as Task: name its class TaskDto',
    severity: 'error',
  },
} as const;

/**
 * Judges an OpenAPI document by the linter's recommended rules and the project's own.
 *
 * @returns each problem, error or warning, with its place
 */
export async function lintOpenApi(document: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: RULES });
  const problems = await lintFromString({ source: document, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => {
    const place = location[0]?.pointer ?? '#/';
    return `${place.replaceAll('~1', '/')}: ${message} (${ruleId})`;
  });
}
