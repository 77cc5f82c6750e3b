import { freePort, type Supervisor } from '#lib/local-servers';
import type { ChildSpec } from '../shared/children.js';
import { Sentence } from '../shared/sentence.js';
import type { Home, Secrets } from './home.js';
import type { TaskIsolation } from './isolation.js';
import { logTo } from './log-file.js';
import { withSecretFiles } from './secret-files.js';
import { gatewaySettings } from './settings.js';

const DEADLINE_SECONDS = 15;
const GRACE_SECONDS = 5;
/** The server refuses shorter secrets. */
const SECRET_LENGTH = 32;

/** The gateway's address for the server, and the secret with which both sign. */
export interface GatewayAccess {
  url: string;
  secret: string;
  /** Names of the held sockets of the stack's own gateway. */
  sockets?: string[];
}

/**
 * Returns the gateway that the user runs; undefined if there is none.
 *
 * @throws Sentence if only a part of its settings is set, or the secret is too short
 */
export function givenGateway(env = process.env): GatewayAccess | undefined {
  const url = env['GATEWAY_URL'] ?? '';
  const secret = env['GATEWAY_SECRET'] ?? '';
  if (url === '' && secret === '') {
    if (env['GATEWAY_PROTOCOL'] !== 'basic') return undefined;
    throw new Sentence(
      'GATEWAY_PROTOCOL is "basic" and GATEWAY_URL is not set: set GATEWAY_URL and GATEWAY_SECRET for such a gateway, or leave all three out, and one is started here.',
    );
  }
  if (url !== '' && secret !== '') {
    if (secret.length >= SECRET_LENGTH) return { url, secret };
    throw new Sentence(`GATEWAY_SECRET must have at least ${SECRET_LENGTH} characters.`);
  }
  const [is, isNot] = url === '' ? ['SECRET', 'URL'] : ['URL', 'SECRET'];
  throw new Sentence(
    `GATEWAY_${is} is set and GATEWAY_${isNot} is not: set both for a gateway of your own, or neither, and one is started here.`,
  );
}

/** Returns the stack's own gateway, on a free port that stays held as long as this process runs. */
export async function ownGateway(supervisor: Supervisor, secrets: Secrets): Promise<GatewayAccess> {
  const [host, port] = ['127.0.0.1', await freePort()];
  const name = `gateway ${port}`;
  if ((await supervisor.hold(name, { host, port })) !== undefined) {
    return ownGateway(supervisor, secrets);
  }
  return { url: `http://${host}:${port}`, secret: secrets.gatewaySecret, sockets: [name] };
}

/**
 * @param address the address of the server
 */
export function gatewaySpec(
  home: Home,
  { metricsToken }: Secrets,
  gateway: GatewayAccess,
  address: string,
  isolation: TaskIsolation,
): ChildSpec {
  return {
    name: 'gateway',
    program: 'apps/gateway/main.js',
    sockets: gateway.sockets ?? [],
    onLine: logTo(home.logFile('gateway')),
    stopWithinMs: (DEADLINE_SECONDS + 2) * 1_000,
    env: withSecretFiles(home.programFolder('gateway-secrets'), {
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'info',
      ...gatewaySettings(),
      ...isolation.env,
      DROVER_API_URL: address,
      DROVER_API_SOCKET: home.socket ?? '',
      GATEWAY_SESSIONS_API_URL: address,
      GATEWAY_SECRET: gateway.secret,
      METRICS_TOKEN: metricsToken,
      GATEWAY_DATA_DIR: home.programFolder('gateway'),
      PORT: new URL(gateway.url).port,
      GATEWAY_GRACE_SECONDS: String(GRACE_SECONDS),
      SHUTDOWN_DEADLINE_SECONDS: String(DEADLINE_SECONDS),
    }),
  };
}
