import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeFolder } from '#lib/kernel';
import { droverHome, projectRoot } from '#lib/kernel';
import { Sentence } from '../shared/sentence.js';

/** Secrets that the first start creates and that never change. */
export interface Secrets {
  jwtSecret: string;
  /** The master keys, the current one first. A new one precedes the earlier ones. */
  encryptionKeys: string;
  /** The token that reads /metrics. */
  metricsToken: string;
  /** The secret that server and gateway share. */
  gatewaySecret: string;
  appPassword: string;
  servicePassword: string;
}

export interface Administrator {
  email: string;
  password: string;
}

/**
 * The processes of a start: itself, the supervisor that outlives it during a stop, and their
 * children.
 */
export interface Processes {
  main: number;
  supervisor: number;
  /** The time of its start, in ISO format. */
  since: string;
  /** The process id of each program's current process, by name. */
  programs: Record<string, number>;
  /** Node and the file of this program. `drover down` runs it again. */
  command: string[];
}

const secret = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/** The folder of all state between starts. Only its owner can read its files. */
export class Home {
  readonly data: string;
  readonly administratorFile: string;
  readonly apiKeyFile: string;
  private readonly secretsFile: string;
  private readonly workerKeyFile: string;
  private readonly portFile: string;
  private readonly addressFile: string;
  private readonly processesFile: string;
  private readonly socketFile: string;

  /** @throws Sentence */
  constructor(readonly folder: string) {
    makeHome(folder);
    this.data = join(folder, 'data');
    this.administratorFile = join(folder, 'administrator.json');
    this.apiKeyFile = join(folder, 'api-key');
    this.secretsFile = join(folder, 'secrets.json');
    this.workerKeyFile = join(folder, 'worker-key');
    this.portFile = join(folder, 'port');
    this.addressFile = join(folder, 'address');
    this.processesFile = join(folder, 'processes.json');
    this.socketFile = join(folder, 'socket');
  }

  logFile(program: string): string {
    return join(this.folder, `${program}.log`);
  }

  /** The folder for a program's state between its processes. */
  programFolder(name: string): string {
    return join(this.folder, name);
  }

  secrets(): Secrets {
    const kept = existsSync(this.secretsFile) ? readJson<Partial<Secrets>>(this.secretsFile) : {};
    const secrets = {
      jwtSecret: kept.jwtSecret ?? secret(48),
      encryptionKeys: kept.encryptionKeys ?? `k1:${randomBytes(32).toString('base64')}`,
      metricsToken: kept.metricsToken ?? secret(),
      gatewaySecret: kept.gatewaySecret ?? secret(),
      appPassword: kept.appPassword ?? secret(),
      servicePassword: kept.servicePassword ?? secret(),
    };
    // Secrets of an earlier version lack the fields that are newer.
    if (!isDeepStrictEqual(kept, secrets)) {
      writePrivate(this.secretsFile, `${JSON.stringify(secrets, null, 2)}\n`);
    }
    return secrets;
  }

  /** Credentials of the first administrator; undefined if somebody has removed the file. */
  get administrator(): Administrator | undefined {
    if (!existsSync(this.administratorFile)) return undefined;
    return readJson<Administrator>(this.administratorFile);
  }

  /**
   * The file is written before the administrator is created. A created but unknown administrator
   * would be worse.
   */
  makeAdministrator(): Administrator {
    const made = { email: 'admin@drover.local', password: secret(18) };
    writePrivate(this.administratorFile, `${JSON.stringify(made, null, 2)}\n`);
    return made;
  }

  /** An administrator existed already. */
  forgetAdministrator(): void {
    rmSync(this.administratorFile, { force: true });
  }

  get workerKey(): string | undefined {
    return readText(this.workerKeyFile);
  }

  set workerKey(key: string) {
    writePrivate(this.workerKeyFile, `${key}\n`);
  }

  get apiKey(): string | undefined {
    return readText(this.apiKeyFile);
  }

  set apiKey(key: string) {
    writePrivate(this.apiKeyFile, `${key}\n`);
  }

  get port(): number | undefined {
    const port = Number(readText(this.portFile));
    return Number.isInteger(port) && port > 0 ? port : undefined;
  }

  set port(port: number) {
    writePrivate(this.portFile, `${port}\n`);
  }

  /** The address of the last start's server. */
  get address(): string | undefined {
    return readText(this.addressFile);
  }

  set address(address: string) {
    writePrivate(this.addressFile, `${address}\n`);
  }

  /**
   * The socket on which the server listens for programs of this user. The path stays known after a
   * stop, so that no program turns to the port, where another program can listen then.
   */
  get socket(): string | undefined {
    return readText(this.socketFile);
  }

  set socket(path: string | undefined) {
    if (path === undefined) rmSync(this.socketFile, { force: true });
    else writePrivate(this.socketFile, `${path}\n`);
  }

  /** The processes of the last start. They can have ended. */
  get processes(): Processes | undefined {
    return existsSync(this.processesFile) ? readJson<Processes>(this.processesFile) : undefined;
  }

  set processes(processes: Processes) {
    writePrivate(this.processesFile, `${JSON.stringify(processes)}\n`);
  }
}

/** Returns the folder that DROVER_HOME names, or `.drover` of the clone or of the user. */
export const homeFolder = droverHome;

const OBSTACLES: Record<string, string | undefined> = {
  EEXIST: 'a file is in the way',
  ENOTDIR: 'a file is in the way',
  ENOENT: 'no folder can be made',
};

function makeHome(folder: string): void {
  // Git would track the keys there.
  if (folder === projectRoot) {
    throw new Sentence(`DROVER_HOME is the clone itself: set it to a folder of its own.`);
  }
  try {
    if (makeFolder(folder)) writePrivate(join(folder, '.gitignore'), '*\n');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const obstacle = code && OBSTACLES[code];
    if (obstacle === undefined) throw error;
    throw new Sentence(
      `DROVER_HOME is ${folder}, where ${obstacle}: set it to a folder, or to a path where one can be made.`,
    );
  }
}

/** @throws Sentence */
function readJson<T>(file: string): T {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Sentence(
      `${file} is damaged: put back a copy of it, or move its folder away to start afresh.`,
    );
  }
}

function readText(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return readFileSync(file, 'utf8').trim() || undefined;
}

/** The write is atomic, and others can read the file at no moment. */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
