import { VARIABLES } from '#lib/config';

type Environment = Record<string, string>;

/** The folder in which a person called `npm start`, which changes it. */
export function calledFrom(env = process.env): string {
  return env['INIT_CWD'] ?? process.cwd();
}

/**
 * Returns the server's settings: the environment of `npm start`, overridden by its own decisions.
 */
export function serverSettings(env = process.env): Environment {
  return pick(env, (name) => VARIABLES.includes(name));
}

/**
 * @param index of the worker, from 0: each has its own port for metrics
 */
export function workerSettings(index: number, env = process.env): Environment {
  const port = Number(env['DROVER_WORKER_METRICS_PORT'] ?? 0);
  return {
    ...pick(
      env,
      (name) =>
        name.startsWith('DROVER_WORKER_') ||
        ['DROVER_AGENTS', 'DROVER_REPOSITORY_PATHS'].includes(name),
    ),
    ...(port > 0 && { DROVER_WORKER_METRICS_PORT: String(port + index) }),
    ...named(env, 'DROVER_WORKER_PASS_ENV'),
  };
}

const GATEWAY_SETTING =
  /^(GATEWAY_.+|ALLOW_UNSANDBOXED_TENANTS|MAX_CONCURRENT_WORKERS|WORKER_CREATION_TIMEOUT)$/;

export function gatewaySettings(env = process.env): Environment {
  return {
    ...pick(env, (name) => GATEWAY_SETTING.test(name)),
    ...named(env, 'GATEWAY_PASS_ENV'),
  };
}

export function sandboxVariables(env = process.env): Environment {
  return pick(env, (name) => /^DROVER_(SANDBOX|ACCOUNTS)/.test(name));
}

/**
 * Returns the variables that another variable names, for the programs that receive the named
 * values.
 */
function named(env: NodeJS.ProcessEnv, list: string): Environment {
  const names = (env[list] ?? '').split(',').map((name) => name.trim());
  return pick(env, (name) => names.includes(name));
}

function pick(env: NodeJS.ProcessEnv, wanted: (name: string) => boolean): Environment {
  const entries = Object.entries(env).filter(([name, value]) => value && wanted(name));
  return Object.fromEntries(entries) as Environment;
}
