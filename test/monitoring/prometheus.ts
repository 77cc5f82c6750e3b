import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError, fetchPackage, freePort, Supervisor } from '#lib/local-servers';
import { waitFor } from '../support/wait-for.js';

const execute = promisify(execFile);

/** The programs of the distribution's Prometheus package. */
export interface PrometheusPrograms {
  prometheus: string;
  promtool: string;
}

/** Undefined if they cannot be installed. */
export async function findPrometheus(): Promise<PrometheusPrograms | undefined> {
  const supervisor = await Supervisor.start();
  try {
    return await fetchPackage<PrometheusPrograms>(
      {
        name: 'prometheus',
        title: 'Prometheus',
        packages: ['prometheus'],
        needs: () => false,
        probe: async (bin) => {
          const found = { prometheus: join(bin, 'prometheus'), promtool: join(bin, 'promtool') };
          const version = execute(found.promtool, ['--version']);
          return version.then(
            () => found,
            () => undefined,
          );
        },
        missing: (_, cause) => new EmbeddedError('binaries_missing', 'it cannot be had', { cause }),
      },
      { supervisor },
    );
  } catch {
    return undefined;
  } finally {
    await supervisor.close();
  }
}

/**
 * @returns the output. An error has the messages of promtool
 */
export async function promtool({ promtool: file }: PrometheusPrograms, args: string[]) {
  const { stdout } = await execute(file, args).catch((error: { stdout: string; stderr: string }) =>
    Promise.reject(new Error(`${error.stdout}\n${error.stderr}`)),
  );
  return stdout;
}

/** A sample, or one point of a series. */
export interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Rule {
  name: string;
  query: string;
  health: 'unknown' | 'ok' | 'err';
  state: 'inactive' | 'pending' | 'firing';
  lastError?: string;
}

/**
 * Runs a Prometheus that scrapes one server each second and evaluates the rules of a file as often.
 */
export class TestPrometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  static async start(
    { prometheus }: PrometheusPrograms,
    { target, token, rules }: { target: string; token: string; rules: string },
  ): Promise<TestPrometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'drover-prometheus-'));
    const address = `127.0.0.1:${await freePort()}`;
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [
        {
          job_name: 'drover',
          authorization: { credentials: token },
          static_configs: [{ targets: [new URL(target).host] }],
        },
      ],
    };
    // YAML includes JSON.
    await writeFile(join(folder, 'prometheus.json'), JSON.stringify(config));
    const args = {
      'config.file': join(folder, 'prometheus.json'),
      'storage.tsdb.path': join(folder, 'data'),
      'web.listen-address': address,
      'log.level': 'error',
    };
    const child = spawn(
      prometheus,
      Object.entries(args).map(([name, value]) => `--${name}=${value}`),
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const made = new TestPrometheus(child, folder, `http://${address}/api/v1`);
    await waitFor('Prometheus to have asked the server', async () => {
      const samples = await made.query('up == 1').catch(() => []);
      return samples.length > 0;
    });
    return made;
  }

  /**
   * @throws Error if Prometheus refuses the expression
   */
  async query(expression: string): Promise<Sample[]> {
    const query = new URLSearchParams({ query: expression });
    const { result } = await this.get<{ result: Sample[] }>(`/query?${query}`);
    return result;
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.get<{ groups: { rules: Rule[] }[] }>('/rules');
    return groups.flatMap((group) => group.rules);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    if (this.child.kill('SIGKILL')) await ended;
    await rm(this.folder, { recursive: true, force: true });
  }

  private async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.url}${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: T };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  }
}
