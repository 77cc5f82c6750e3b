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
  it('docker-compose.yml conforms to the Compose Specification', () => {
    expect(complaints(composeText())).toEqual([]);
  });

  it('a mapping instead of a word does not conform to the Compose Specification', () => {
    const text = "services: { a: { image: b, healthcheck: { test: ['CMD', x ? 0: 1] } } }";
    expect(complaints(text)).toContain('/services/a/healthcheck/test/1 must be string');
  });

  it('docker-compose.yml refers only to its own services, networks and volumes', () => {
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

  it('docker-compose.yml uses exactly the variables of .env.example', () => {
    const example = readFileSync(join(root, '.env.example'), 'utf8');
    const offered = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(offered.sort()).toEqual(wantedVariables());
  });

  it.each(services.filter(([, { healthcheck }]) => healthcheck?.test?.[1] === 'node'))(
    'the service %s has a program as its health check',
    (_, { healthcheck }) => {
      const [how, , flag, script = ''] = healthcheck?.test ?? [];
      expect([how, flag]).toEqual(['CMD', '-e']);
      expect(() => new Function(script)).not.toThrow();
    },
  );
});

describe('The image', () => {
  it.each(['.dockerignore', '.gitignore'])(
    'the image omits the file with the secrets, by %s',
    (file) => {
      expect(readFileSync(join(root, file), 'utf8').split('\n')).toContain('.env');
    },
  );
});
