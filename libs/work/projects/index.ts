export { ProjectsModule } from './projects.module.js';
export type { McpServerSetting } from './domain/mcp-servers.js';
export { McpServerDto } from './http/mcp-servers.dto.js';
export { type NetworkLevels, networkLevels, reachOfLevels } from './projects/network-levels.sql.js';
