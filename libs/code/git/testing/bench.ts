import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findBubblewrap } from '#lib/local-servers';
import { withRemote } from '../remote/remote.js';
import { Mirror } from '../repository/mirror.js';
import { RunRepository } from '../repository/run-repository.js';
import { Snapshots } from '../work/snapshots.js';
import { makeWorkFolder } from '../work/work-folder.js';
import type { TestPlace } from './repositories.js';

const AUTHOR = { name: 'codex', email: 'codex@drover.invalid' };

/** A host's part of one run on a repository of this machine, without a session. */
export class TestRun {
  private constructor(
    readonly place: TestPlace,
    readonly url: string,
    readonly mirror: Mirror,
    readonly run: RunRepository,
    readonly work: string,
    readonly snapshots: Snapshots,
  ) {}

  static async start(
    place: TestPlace,
    url: string,
    { name = 'run', path }: { name?: string; path?: string } = {},
  ): Promise<TestRun> {
    const mirror = await Mirror.open(place.path('host'));
    await withRemote({ url, credentials: null }, [place.root], (remote) => mirror.fetch(remote));
    const run = new RunRepository(place.path(name), mirror, `codex/${name}`);
    const commit = await mirror.tip('main');
    await run.make(commit);
    const work = place.path(`${name}-work`);
    mkdirSync(work);
    const snapshots = new Snapshots({
      run,
      mirrorObjects: mirror.objects,
      work,
      path,
      program: await findBubblewrap(),
    });
    await makeWorkFolder(
      {
        folder: work,
        branch: run.branch,
        commit,
        target: { branch: 'main', commit },
        objects: run.allObjects.map((here) => ({ here, inside: here })),
        origin: place.path('nowhere'),
        author: AUTHOR,
        path,
      },
      snapshots.seed,
    );
    await snapshots.make(commit);
    return new TestRun(place, url, mirror, run, work, snapshots);
  }

  take(message = 'What is left') {
    return this.snapshots.take({ message, author: AUTHOR });
  }

  file(name: string): string {
    return join(this.work, name);
  }

  remote<T>(work: Parameters<typeof withRemote<T>>[2]): Promise<T> {
    return withRemote({ url: this.url, credentials: null }, [this.place.root], work);
  }
}
