import type { Commands } from '../command.js';

const commands: Commands = {
  mcp: {
    usage: 'mcp',
    summary: 'Serve MCP over stdio',
    about:
      'The tools depend on the credentials: a run token (DROVER_RUN_TOKEN) or an API key. ' +
      'docs/mcp.md has configurations for common clients.',
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
