import { query } from '#lib/database';
import type { McpServerSetting } from '../domain/mcp-servers.js';

/**
 * The MCP servers of a project, as they are shown. Locks the project. Index: primary key. $1 workspace,
 * $2 project.
 */
export const serversOfProject = query<{ mcp_servers: McpServerSetting[] }>(
  'servers_of_project',
  `
SELECT p.mcp_servers FROM projects p WHERE p.workspace_id = $1 AND p.id = $2
FOR NO KEY UPDATE`,
);
