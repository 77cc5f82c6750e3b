export { ProjectsModule } from './projects.module.js';
export type { McpServerSetting } from './domain/mcp-servers.js';
export { McpServerDto } from './http/mcp-servers.dto.js';
