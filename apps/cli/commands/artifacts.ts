import { type Artifact, fetchArtifacts, isFileOfWork, latestArtifacts } from '../artifacts.js';
import { cleanLine } from '../output/clean.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { LIST_OPTIONS, readList } from '../lists.js';

const list: CommandSpec = {
  usage: 'list <task>',
  summary: 'List the artifacts of a task, newest first',
  options: [['--run <id>', 'run ID'], ...LIST_OPTIONS],
  examples: ['artifact list $TASK', 'artifact list $TASK --json'],
  run: async (cli, [id = ''], flags) => {
    const runId = flags.text('run');
    const artifacts = await readList(flags, (page) =>
      cli.drover.get('/api/v1/agent-tasks/{id}/artifacts', {
        params: { path: { id }, query: { ...page, ...(runId !== undefined && { runId }) } },
      }),
    );
    cli.out.rows(
      artifacts,
      [
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'bytes', of: ({ sizeBytes }) => String(sizeBytes) },
        { title: 'type', of: ({ mediaType }) => mediaType },
        { title: 'created', of: ({ createdAt }) => createdAt, wide: true },
        { title: 'run', of: ({ runId: run }) => run },
      ],
      'No artifacts found.',
    );
  },
};

const get: CommandSpec = {
  usage: 'get <task> [names...]',
  summary: 'Download artifacts of a task',
  about:
    'Without names it downloads all. If several runs stored a name, the newest file counts. ' +
    'Prints the path of each file.',
  options: [
    ['--out <dir>', 'folder of the files (default .)'],
    ['--force', 'replace existing files'],
  ],
  examples: ['artifact get $TASK --out results', 'artifact get $TASK haiku.txt --force'],
  run: async (cli, [id = '', ...names], flags) => {
    const known = await latestArtifacts(cli.drover, id);
    const chosen =
      names.length === 0 ? known.filter(isFileOfWork) : names.map((name) => named(known, name));
    const options = { out: flags.text('out') ?? '.', force: flags.has('force') };
    const fetched: { name: string; path: string }[] = [];
    try {
      for await (const { artifact, path } of fetchArtifacts(cli.drover, chosen, options)) {
        fetched.push({ name: artifact.name, path });
        if (!cli.out.json) cli.out.line(cleanLine(path));
      }
    } finally {
      // An error leaves the files that came before it.
      if (cli.out.json) cli.out.value(fetched);
    }
    if (!cli.out.json && fetched.length === 0) cli.out.note('No artifacts found.');
  },
};

function named(artifacts: readonly Artifact[], name: string): Artifact {
  const artifact = artifacts.find((one) => one.name === name);
  if (artifact) return artifact;
  const advice = 'List the names with `drover artifact list`.';
  throw new Failure(`The task has no artifact ${name}.`, advice, EXIT.notFound);
}

const commands: Commands = {
  artifact: { summary: 'List and download files that runs kept', commands: [list, get] },
};

export default commands;
