import type { Isolation } from '#lib/agent-host';
import type { GatewayConfig } from '../config.js';

/** Decides which workspaces get sessions here. */
export class Tenants {
  constructor(
    private readonly config: Pick<GatewayConfig, 'workspaces' | 'allowUnsandboxedTenants'>,
    private readonly isolation: Isolation,
  ) {}

  /**
   * @param workspaceId null for a session without a run
   * @param first the workspace of the first known session
   * @returns undefined if the workspace is served, else the reason why not
   */
  whyNot(workspaceId: string | null, first: string | undefined): string | undefined {
    const { workspaces, allowUnsandboxedTenants } = this.config;
    if (workspaceId === null) return undefined;
    if (workspaces?.includes(workspaceId) === false) {
      return 'This gateway does not serve the workspace (GATEWAY_WORKSPACES)';
    }
    const isApart = this.isolation.sandbox !== undefined || allowUnsandboxedTenants;
    if (isApart || first === undefined || first === workspaceId) return undefined;
    return (
      'This gateway has no sandbox for sessions, so it serves one workspace only, ' +
      'and that is another one (ALLOW_UNSANDBOXED_TENANTS)'
    );
  }
}
