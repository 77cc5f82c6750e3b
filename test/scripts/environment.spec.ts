import { expect, it } from '@jest/globals';
import { join } from 'node:path';

const module = join(import.meta.dirname, '../../scripts/lib/environment.mjs');
const { clearSettings } = (await import(module)) as {
  clearSettings(env: Record<string, string>): void;
};

it('settings of the shell do not reach tests', () => {
  const kept = { PATH: '/bin', CI: 'true', DROVER_TEST_FAULTS: 'long', DROVER_MODEL_SEED: '1' };
  const env = {
    ...kept,
    DROVER_HOME: '/srv/drover',
    DATABASE_URL: 'postgres://other',
    JWT_SECRET_FILE: '/run/secret',
    PORT: '80',
    GATEWAY_ID: 'g',
  };
  clearSettings(env);
  expect(env).toEqual(kept);
});
