import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeText, readCompose, wantedVariables } from './compose.js';

const root = join(import.meta.dirname, '../..');
const compose = readCompose();
const services = Object.entries(compose.services);

const isValid = compiledSchema();

function compiledSchema() {
  const file = readFileSync(join(import.meta.dirname, 'compose-spec.json'), 'utf8');
  const schema = JSON.parse(file) as Record<string, unknown>;
  // The validator knows the dialect without its address.
  delete schema['$schema'];
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv.compile(schema);
}

/** Validates the text with the schema of the Compose Specification and lists the errors. */
function complaints(text: string): string[] {
  if (isValid(readCompose(text))) return [];
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  it('is what the Compose Specification allows', () => {
    expect(complaints(composeText())).toEqual([]);
  });

  it('would not pass with a mapping in the place of a word', () => {
    const text = "services: { a: { image: b, healthcheck: { test: ['CMD', x ? 0: 1] } } }";
    expect(complaints(text)).toContain('/services/a/healthcheck/test/1 must be string');
  });

  it('refers only to services, networks and volumes that it has', () => {
    const missing = services.flatMap(([name, service]) => {
      const volumes = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
      return [
        ...Object.keys(service.depends_on ?? {}).filter((other) => !(other in compose.services)),
        ...(service.networks ?? []).filter((network) => !(network in compose.networks)),
        ...volumes.filter((volume) => !(volume in compose.volumes)),
      ].map((what) => `${name}: ${what}`);
    });
    expect(missing).toEqual([]);
  });

  it('wants the variables that .env.example has, and no others', () => {
    const example = readFileSync(join(root, '.env.example'), 'utf8');
    const offered = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(offered.sort()).toEqual(wantedVariables());
  });

  it.each(services.filter(([, { healthcheck }]) => healthcheck?.test[1] === 'node'))(
    '%s has a health check that is a program',
    (_, { healthcheck }) => {
      const [how, , flag, script = ''] = healthcheck?.test ?? [];
      expect([how, flag]).toEqual(['CMD', '-e']);
      expect(() => new Function(script)).not.toThrow();
    },
  );
});

describe('The image', () => {
  it.each(['.dockerignore', '.gitignore'])(
    'leaves out, by %s, the file with the secrets',
    (file) => {
      expect(readFileSync(join(root, file), 'utf8').split('\n')).toContain('.env');
    },
  );
});
