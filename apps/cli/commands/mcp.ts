import type { Commands } from '../command.js';

const commands: Commands = {
  mcp: {
    usage: 'mcp',
    summary: 'Be an MCP server over standard input and output, for a model',
    about:
      'The tools that there are depend on the credentials: those of a run (DROVER_RUN_TOKEN), or an API key.\n' +
      'docs/mcp.md has lines to copy for common clients.',
    examples: ['mcp', 'mcp --context drover.example.org'],
    run: async (cli) => {
      const { serveMcp } = await import('../mcp.js');
      const { url, credentials, workspaceId } = cli.access();
      await serveMcp({
        baseUrl: url,
        credentials,
        workspaceId: cli.options.workspaceId ?? workspaceId,
      });
    },
  },
};

export default commands;
