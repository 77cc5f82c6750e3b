export { answerMcp, type McpRequest } from './server/http.js';
export { createMcpServer, type McpOptions } from './server/server.js';
export { serveMcpOverStdio } from './server/stdio.js';
export type { McpCaller } from './tools/tool.js';
