import { ApiKeys } from '../components/api-keys.js';
import { McpServers } from '../components/mcp-servers.js';
import { Invitations, Members } from '../components/members.js';
import { OwnInvitations } from '../components/own-invitations.js';
import { Page } from '../components/parts.js';
import { PromptTemplate } from '../components/prompt-template.js';
import { SecondFactor } from '../components/second-factor.js';
import { Sessions } from '../components/sessions.js';
import { useWorkspace } from '../api/workspace.js';

export function SettingsPage() {
  const { may, name } = useWorkspace();
  return (
    <Page title="Settings" beside={<bdi className="muted">{name}</bdi>}>
      <div className="stack">
        <OwnInvitations />
        <Members />
        {may('ADMIN') && <Invitations />}
        {may('ADMIN') && <ApiKeys />}
        {may('ADMIN') && <McpServers />}
        {may('ADMIN') && <PromptTemplate />}
        <SecondFactor />
        <Sessions />
      </div>
    </Page>
  );
}
