import { join } from 'node:path';
import { Database, migrate } from '#lib/database';
import { beginStack, type CleanupScope, type Stack, Supervisor } from '#lib/local-servers';
import { ensureFirstAdministrator } from '#lib/identity';
import { built } from '#lib/kernel';
import type { ChildSpec } from '../shared/children.js';
import { type DatabaseUrls, databaseUrls } from '../shared/database-urls.js';
import { explain, Sentence } from '../shared/sentence.js';
import { banner } from './banner.js';
import { type GatewayAccess, gatewaySpec, givenGateway, ownGateway } from './gateway.js';
import { Home, homeFolder, type Processes, type Secrets } from './home.js';
import { arrangeIsolation } from './isolation.js';
import { SupervisedProcess } from './supervised-process.js';
import { logTo } from './log-file.js';
import { ensureKeys } from './keys.js';
import { choosePort, holdPort, isFree } from './port.js';
import { previousGone } from './previous.js';
import { areRunning } from './processes.js';
import { explainInUse, explainRefusedPort } from './running.js';
import { withSecretFiles } from './secret-files.js';
import { calledFrom, serverSettings } from './settings.js';
import { unansweredValkey } from './unanswered-valkey.js';
import { FINISH_SIGNAL, STOPPING, workerSpecs } from './workers.js';

const SERVER_DEADLINE_SECONDS = 10;

interface Ground {
  home: Home;
  secrets: Secrets;
  urls: DatabaseUrls;
  stack: Stack;
  gateway: GatewayAccess;
}

interface Wanted {
  scope: CleanupScope;
  tell: (line: string) => void;
  workers: number;
  onReady: () => void;
}

/**
 * Starts everything, and runs until a signal ends the process. SIGUSR2 ends it when the workers
 * and the gateway have finished their work.
 *
 * @returns exit code 0 after that
 * @throws Sentence, EmbeddedError or MigrationError: the fault and the action to take
 */
export async function run(wanted: Wanted): Promise<number> {
  const { tell } = wanted;
  const finishRequested = new Promise<void>((resolve) => {
    process.on(FINISH_SIGNAL, () => resolve());
  });
  const home = new Home(homeFolder());
  await previousGone(home, tell);
  const port = await choosePort(home).catch(async (error: unknown) => {
    throw await explainRefusedPort(error, home);
  });
  const given = givenGateway();
  return new Promise<number>((resolve, reject) => {
    const onLost = (text: string): void => reject(new Sentence(text));
    const runToFinish = async (): Promise<number> => {
      const processes = await startAll({ ...wanted, home, port, given, onLost });
      wanted.onReady();
      await finishRequested;
      await Promise.all(processes.map((supervised) => supervised.finish()));
      return 0;
    };
    runToFinish().then(resolve, reject);
  });
}

interface Launcher {
  supervisor: Supervisor;
  supervise: (spec: ChildSpec) => SupervisedProcess;
}

interface Start extends Wanted {
  home: Home;
  port: number;
  given: GatewayAccess | undefined;
  onLost: (text: string) => void;
}

/** @returns the workers, and the gateway unless another one is used */
async function startAll(start: Start): Promise<SupervisedProcess[]> {
  const { scope, tell, home, given, onLost } = start;
  const supervisor = await Supervisor.start();
  scope.add(() => supervisor.close());
  const noted = noteStart(home, supervisor);
  const starting = beginStack({
    supervisor,
    dataDir: home.data,
    progress: tell,
    onLost: (text) => onLost(`${text} Start again; the data is kept.`),
  });
  scope.add(starting.stop);
  const stack = await starting.ready.catch(async (error: unknown) => {
    throw await explainInUse(error, home);
  });
  // This process owns the data. The record of a start in the same moment is void.
  home.processes = noted;
  const onStart = (name: string, pid: number): void => {
    noted.programs[name] = pid;
    home.processes = noted;
  };
  const supervise = (spec: ChildSpec): SupervisedProcess =>
    new SupervisedProcess(supervisor, spec, tell, onStart);
  const unanswered = await unansweredValkey(stack.valkey.url);
  if (unanswered) tell(unanswered);
  const secrets = home.secrets();
  const passwords = { app: secrets.appPassword, service: secrets.servicePassword };
  const urls = databaseUrls(stack.postgres.url, passwords);
  await migrate({ ...urls, log: tell });
  await ensureAdministrator(urls, home);
  const gateway = given ?? (await ownGateway(supervisor, secrets));
  const ground = { home, secrets, urls, stack, gateway };
  const port = await startServer(ground, start, { supervisor, supervise });
  // The port is stored late: a start that finds the data in use must not change its address.
  if (!process.env['PORT']) home.port = port;
  const address = `http://127.0.0.1:${port}`;
  home.address = address;
  await ensureKeys(address, home);
  const ready = ({ message }: Record<string, unknown>): boolean =>
    message === 'Registered' || message === 'listening';
  const isolation = await arrangeIsolation(home.folder, tell);
  const specs = workerSpecs(start.workers, home, secrets, address, isolation);
  if (given === undefined) specs.push(gatewaySpec(home, secrets, gateway, address, isolation));
  const processes = specs.map(supervise);
  // Ends all at once and before the server, because they report their releases to it.
  scope.add(async () => {
    tell(STOPPING);
    await Promise.all(processes.map((supervised) => supervised.stop()));
  });
  await Promise.all(processes.map((supervised) => supervised.start(ready)));
  tell(banner({ address, home, gateway, isolation, workers: start.workers }));
  return processes;
}

/**
 * Records this start for others, unless another start runs, because then this one will find the
 * data in use.
 */
function noteStart(home: Home, supervisor: Supervisor): Processes {
  const known = home.processes;
  const processes: Processes = {
    main: process.pid,
    supervisor: supervisor.pid,
    since: new Date(performance.timeOrigin).toISOString(),
    programs: {},
    command: [process.execPath, built('tools/start/main.js')],
  };
  if (known === undefined || !areRunning(known)) home.processes = processes;
  return processes;
}

/**
 * Holds the port and starts the server on it. Another port is chosen if a program took the port
 * while the database started, such as a second clone that starts at the same moment.
 */
async function startServer(
  ground: Ground,
  { port, scope, tell }: Pick<Start, 'port' | 'scope' | 'tell'>,
  { supervisor, supervise }: Launcher,
): Promise<number> {
  const { home } = ground;
  const socket = join(home.folder, 'server.sock');
  const sockets = await holdPort(supervisor, port, socket);
  const startElsewhere = async (): Promise<number> => {
    const other = { port: await choosePort(home), scope, tell };
    return startServer(ground, other, { supervisor, supervise });
  };
  if (sockets === undefined) return startElsewhere();
  home.socket = sockets.includes(socket) ? socket : undefined;
  const server = supervise(serverSpec(ground, port, sockets));
  scope.add(() => server.stop());
  try {
    await server.start(({ message }) => message === 'listening');
  } catch (error) {
    // A bound port without a listener can be bound twice, as by two starts in one moment.
    if (process.env['PORT'] || (await isFree(port))) throw error;
    return startElsewhere();
  }
  process.on('message', (message) => {
    // `npm run dev` sends this message. Process managers send others.
    if (message === 'built') void renew(server, ground.urls, tell);
  });
  process.channel?.unref();
  return port;
}

/** The new server may need its new migrations. If they fail, the current server continues. */
async function renew(
  server: SupervisedProcess,
  urls: DatabaseUrls,
  tell: (line: string) => void,
): Promise<void> {
  try {
    await migrate({ ...urls, log: tell });
    await server.renew();
  } catch (error) {
    tell(explain(error));
  }
}

async function ensureAdministrator(urls: DatabaseUrls, home: Home): Promise<void> {
  const database = new Database({ ...urls, maxAppConnections: 1, maxServiceConnections: 1 });
  try {
    const known = home.administrator;
    const { created } = await ensureFirstAdministrator(database, known ?? home.makeAdministrator());
    if (!created && known === undefined) home.forgetAdministrator();
  } finally {
    await database.close();
  }
}

function serverSpec(
  { home, urls, stack, secrets, gateway }: Ground,
  port: number,
  sockets: string[],
): ChildSpec {
  return {
    name: 'server',
    program: 'apps/server/main.js',
    sockets,
    onLine: logTo(home.logFile('server')),
    stopWithinMs: (SERVER_DEADLINE_SECONDS + 2) * 1_000,
    env: withSecretFiles(home.programFolder('server-secrets'), {
      LOG_LEVEL: 'info',
      ARTIFACTS_DIR: home.programFolder('artifacts'),
      DROVER_REPOSITORY_PATHS: calledFrom(),
      ...serverSettings(),
      DATABASE_URL: urls.appUrl,
      DATABASE_SERVICE_URL: urls.serviceUrl,
      VALKEY_URL: stack.valkey.url,
      VALKEY_VIEWS: 'true',
      JWT_SECRET: secrets.jwtSecret,
      ENCRYPTION_KEYS: secrets.encryptionKeys,
      METRICS_TOKEN: secrets.metricsToken,
      GATEWAY_URL: gateway.url,
      GATEWAY_SECRET: gateway.secret,
      PORT: String(port),
      SHUTDOWN_DEADLINE_SECONDS: String(SERVER_DEADLINE_SECONDS),
    }),
  };
}
