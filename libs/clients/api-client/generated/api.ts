// Made by `npm run openapi` from the OpenAPI document: change the routes and their DTOs instead.

export interface paths {
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with e-mail address and password
         * @description Callers: anybody, without credentials.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a refresh token for a new pair
         * @description Each is good once. Presenting one again ends the session.
         *
         *     Callers: anybody, without credentials.
         */
        post: operations["refreshTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sign-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Become a user, where OPEN_SIGN_UP allows it
         * @description Callers: anybody, without credentials.
         */
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End this session
         * @description Callers: users, whatever their roles.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My account, and my memberships
         * @description Callers: users, whatever their roles.
         */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/caller": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whom the credentials name, and what they are good for
         * @description Callers: users with the role VIEWER or above; API keys with that role and any scope; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["getCaller"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My live sessions, newest first
         * @description Callers: users, whatever their roles.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of my sessions
         * @description Callers: users, whatever their roles.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change my password; ends all my other sessions
         * @description Callers: users, whatever their roles.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All users, oldest first (operators)
         * @description Callers: operators of the installation.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Make a user (operators)
         * @description Callers: operators of the installation.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One user (operators)
         * @description Callers: operators of the installation.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Rename, disable, enable or promote a user (operators)
         * @description Callers: operators of the installation.
         */
        patch: operations["changeUser"];
        trace?: never;
    };
    "/api/v1/users/{id}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a user a new password, and end their sessions (operators)
         * @description Callers: operators of the installation.
         */
        post: operations["resetUserPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The workspaces that I am a member of
         * @description Callers: users, whatever their roles.
         */
        get: operations["listWorkspaces"];
        put?: never;
        /**
         * Make a workspace and become its OWNER
         * @description Callers: users, whatever their roles.
         */
        post: operations["createWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One workspace
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `projects:read`.
         */
        get: operations["getWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Rename a workspace
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        patch: operations["renameWorkspace"];
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a workspace for good; its tokens, runs and sessions end, its rows stay
         * @description Callers: users with the role OWNER.
         */
        post: operations["archiveWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The members of a workspace
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Make a user a member without asking them (operators)
         * @description All others invite an e-mail address. Only an OWNER makes an OWNER.
         *
         *     Callers: users with the role ADMIN or above.
         */
        post: operations["addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member, or leave; agent tokens of theirs and their API keys end
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change a member’s role; an API key needs all scopes to raise one
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        patch: operations["changeMemberRole"];
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The invitations into a workspace that nobody has answered
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite an e-mail address into a workspace, for 14 days
         * @description Sends no mail: tell the invited of it. They sign in with that address, and accept. Inviting again replaces the invitation. Only an OWNER invites an OWNER, and an API key needs all scopes to invite anybody.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invitation
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["revokeInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The invitations to my e-mail address
         * @description Where anybody may sign up, a password proves no address: users with one see none here, and accept by the id that the inviting side tells them.
         *
         *     Callers: users, whatever their roles.
         */
        get: operations["listOwnInvitations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation to my e-mail address, and become a member
         * @description Callers: users, whatever their roles.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{id}/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline an invitation to my e-mail address
         * @description Callers: users, whatever their roles.
         */
        post: operations["declineInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The API keys of a workspace, without the keys
         * @description Callers: users with the role ADMIN or above.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Make an API key; it is shown in this answer only
         * @description Callers: users with the role ADMIN or above.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Callers: users with the role ADMIN or above.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/agent-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The agent tokens that are good, without the tokens
         * @description Those that a member has issued, also with an API key of theirs, end when the member is removed or the user is disabled: `issuedBy` shows them before.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listAgentTokens"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What users and API keys have changed, and were refused, the newest first
         * @description Kept are changing requests that succeeded, and those refused with 403. What happens to tasks has its history in their logs and events.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The projects of the workspace, oldest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `projects:read`.
         */
        get: operations["listProjects"];
        put?: never;
        /**
         * Make a project
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        post: operations["createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One project
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `projects:read`.
         */
        get: operations["getProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a project
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        patch: operations["changeProject"];
        trace?: never;
    };
    "/api/v1/projects/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a project; its tasks stay
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        post: operations["archiveProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/milestones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The milestones of a project, oldest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `projects:read`.
         */
        get: operations["listMilestones"];
        put?: never;
        /**
         * Make a milestone of a project
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        post: operations["createMilestone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/milestones/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One milestone
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `projects:read`.
         */
        get: operations["getMilestone"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a milestone
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        patch: operations["changeMilestone"];
        trace?: never;
    };
    "/api/v1/milestones/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive a milestone; its tasks stay
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `projects:write`.
         */
        post: operations["archiveMilestone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The webhooks of the workspace, the oldest first
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Have events sent to a URL, to Slack, Discord, or by e-mail; the signing secret is in this answer only
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One webhook
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook; what waits for it is not sent
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["removeWebhook"];
        options?: never;
        head?: never;
        /**
         * Change, disable or enable a webhook
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/api/v1/webhooks/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A new signing secret, in this answer only; the one before is valid for 24 hours more
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was sent to a webhook and what it answered, the newest events first
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event `webhook.test`; its delivery tells what came of it
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["sendTestWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send deliveries once more: some, those of a time, or all that failed
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["replayWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pauses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is paused here, by whom and why; the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listPauses"];
        put?: never;
        /**
         * Hand out no more tasks of a type, of the workspace, or at all
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["createPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pauses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let go on what no other pause holds
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["endPause"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspaceId}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the workspace may queue and spawn
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getLimits"];
        /**
         * Set what the workspace may queue and spawn; for operators
         * @description Callers: operators of the installation.
         */
        put: operations["setLimits"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The agents of the workspace, by name
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `agents:read`.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One agent; an agent may read itself
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `agents:read`; agents with their own token.
         */
        get: operations["getAgent"];
        /**
         * Register an agent, or change it; you choose the id. An agent may do it for itself
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `agents:write`; agents with their own token.
         */
        put: operations["registerAgent"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Its latest heartbeat, and what follows from it
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `agents:read`.
         */
        get: operations["getAgentHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/heartbeats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is kept of its heartbeats, the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `agents:read`.
         */
        get: operations["listHeartbeats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token for the agent; with rotate, it and its runs have no other that is good
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `agents:write`.
         */
        post: operations["issueAgentToken"];
        /**
         * Refuse all tokens of the agent and of its runs, within about a second
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `agents:write`.
         */
        delete: operations["revokeAgentTokens"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Says that the agent is alive, and how it does
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["sendHeartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks, the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listTasks"];
        put?: never;
        /**
         * Create a task; agents and runs create subtasks of the task that they hold
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`; agents with their own token; what executes a run, with the run's token.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create up to 1,000 tasks, all or none; they may depend on each other by ref
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`; agents with their own token; what executes a run, with the run's token.
         */
        post: operations["createTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/bulk/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the tasks with these ids, or all that pass a filter
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["cancelTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/bulk/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry the failed and aborted tasks with these ids, or that pass a filter
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["retryTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a task; a running one is stopped
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a task; the agent of a running one puts it down with a checkpoint
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["pauseTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a paused task go on from its checkpoint
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["resumeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a failed or aborted task back into the queue, with its attempts reset
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["retryTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * File a task that has ended
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["archiveTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/throughput": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many tasks complete, and how long they wait and run
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getThroughput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many tasks wait and run
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getTaskCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a task
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a task, or pause, resume, cancel or archive it by its status
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        patch: operations["updateTask"];
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a task, the latest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["listTaskRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the log of a task, or follow it
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["listTaskLogs"];
        put?: never;
        /**
         * Log entries, such as output; up to 200
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["addTaskLogs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a task waits for, and a page of what waits for it
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["getTaskDependencies"];
        /**
         * Replace everything that a PENDING task waits for
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        put: operations["replaceTaskDependencies"];
        /**
         * Make a PENDING task wait for more tasks, or change their policies
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["addTaskDependencies"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/dependencies/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show all that a task waits for and all that waits for it, directly or through others
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getTaskGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/dependencies/{dependsOnId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let a PENDING task no longer wait for another
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        delete: operations["removeTaskDependency"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/assign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let one agent alone take a task, from its next run on; null: any
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `tasks:write`.
         */
        post: operations["assignTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inbound-hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The inbound hooks of the workspace, the oldest first
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listInboundHooks"];
        put?: never;
        /**
         * Have events of another system make tasks; the secret is in this answer only
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["createInboundHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inbound-hooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One inbound hook
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["getInboundHook"];
        put?: never;
        post?: never;
        /**
         * Delete an inbound hook; the tasks that it made stay
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["removeInboundHook"];
        options?: never;
        head?: never;
        /**
         * Change, disable or enable an inbound hook
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        patch: operations["changeInboundHook"];
        trace?: never;
    };
    "/api/v1/inbound-hooks/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A new secret, in this answer only; the one before is valid for 24 hours more
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["rotateInboundHookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inbound-hooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What came of the events that were sent to an inbound hook, the newest first
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        get: operations["listInboundHookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event to an inbound hook
         * @description Signed over the bytes of the body as the kind of the hook has it: Standard Webhooks, or the headers of GitHub or GitLab. The same delivery again gets the same answer, and does nothing again.
         *
         *     Callers: anybody, without credentials.
         */
        post: operations["sendEventToHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask people: the run ends, and its task rests until there is an answer
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["askQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The questions of the workspace: the open ones by deadline, others the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; what executes a run, with the run's token.
         */
        get: operations["listQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/questions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One question
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getQuestion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/questions/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer it: its task goes on from its checkpoint, with the answer
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `questions:answer`.
         */
        post: operations["answerQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work has begun
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["startTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * How far the work is
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        patch: operations["reportTaskProgress"];
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save what a later run needs to go on from here
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        put: operations["saveTaskCheckpoint"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the lease
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["renewTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work is done
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["completeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work has failed
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["failTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the task back
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["releaseTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work of many runs is done, each judged by itself; can claim the next in the same request
         * @description Callers: agents with their own token.
         */
        post: operations["completeRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work has begun
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * How far the work is
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        patch: operations["reportRunProgress"];
        trace?: never;
    };
    "/api/v1/runs/{runId}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Save what a later run needs to go on from here
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        put: operations["saveRunCheckpoint"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log entries, such as output; up to 200
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["addRunLogs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the lease
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["renewRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work is done; can claim the next in the same request
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["completeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The work has failed; the server decides whether it is tried again
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["failRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the task back: unstarted, paused, or because the agent is leaving
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["releaseRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the run should go on, before it commits or spends more: advice, which binds nobody
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        get: operations["getRunBudget"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tokens that the run has used; up to 100 reports, each counted once
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["reportRunUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The same under the path of the task
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["reportTaskUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/provider-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The provider has refused the run: its task goes back to the queue, and waits for the provider
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["reportRunProviderLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/provider-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The same under the path of the task
         * @description Callers: agents with their own token; what executes a run, with the run's token.
         */
        post: operations["reportTaskProviderLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{runId}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke the run's token, within about a second; the run itself goes on
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `agents:write`; agents with their own token.
         */
        delete: operations["revokeRunToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take up to 50 tasks; with waitMs, wait for one
         * @description Callers: agents with their own token.
         */
        post: operations["claimTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The runs of the agent that must stop or pause; waits until there are some
         * @description Callers: agents with their own token.
         */
        post: operations["getAgentSignals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tasks that an agent holds or held last; live=true: those it holds
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token.
         */
        get: operations["listAgentTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/terminate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let an agent finish and leave, or end it at once with graceful: false
         * @description Callers: users with the role MEMBER or above; API keys with that role and the scope `agents:write`.
         */
        post: operations["terminateAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/deregister": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The agent leaves; what it holds is released
         * @description Callers: agents with their own token.
         */
        post: operations["deregisterAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say why a task is not running, and estimate when it will start and end
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["explainTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coordinator/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The leader, the last cycle, the numbers of tasks and agents: of the workspace; for operators, of all
         * @description Operators of the installation, signed in as users, name with X-Workspace-Id a workspace in which they are ADMIN or OWNER, as everybody does, and are answered for all workspaces.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `coordinator:admin`.
         */
        get: operations["getCoordinatorStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coordinator/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run the recovery sweeps now, and wait for their end
         * @description Operators of the installation, signed in as users, name with X-Workspace-Id a workspace in which they are ADMIN or OWNER, as everybody does, and are answered for all workspaces.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `coordinator:admin`.
         */
        post: operations["runRecovery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coordinator/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the coordinator's log, the newest first
         * @description Operators of the installation, signed in as users, name with X-Workspace-Id a workspace in which they are ADMIN or OWNER, as everybody does, and are answered for all workspaces.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `coordinator:admin`.
         */
        get: operations["listCoordinatorLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the events of the workspace
         * @description Server-sent events: `id`, `event` (the name) and `data` (JSON, as in `webhooks`). `place` says where the stream begins, `reset` that events were missed which are not there any more, `end` why the stream ends.
         *
         *     Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a ticket for a stream
         * @description Browsers send no headers with a stream. A ticket stands in its address: it opens streams of this workspace for 60 s, and they end when the access token does that it was asked for with.
         *
         *     Callers: users with the role VIEWER or above.
         */
        post: operations["issueStreamTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent-tasks/{id}/logs/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the log of a task
         * @description Server-sent events of the name `log`: the entries of `GET /agent-tasks/{id}/logs`, the oldest first, two seconds behind. It begins with the first entry, or behind the id that it resumes from. `reset` says that entries since then are not there any more.
         *
         *     Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["followTaskLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive? Asks nobody else.
         * @description Callers: anybody, without credentials.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can requests be served? Valkey is told, but decides nothing.
         * @description Callers: anybody, without credentials.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/coordinator": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How are the coordinator and all that it needs?
         * @description Callers: anybody, without credentials.
         */
        get: operations["getSystemHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was used, by day, agent, task, project or model; in the order of the keys, tasks the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What completed tasks were expected to use, and what they used
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getEstimateReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What each completed task cost, the latest first, or each project
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listUsageCosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What tokens of the models cost; by model, the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`; agents with their own token; what executes a run, with the run's token.
         */
        get: operations["listModelPrices"];
        put?: never;
        /**
         * A price from now or a later time on; for operators
         * @description Prices do not change: a correction is a new price from now on. The same price again is answered as the first time.
         *
         *     Callers: operators of the installation.
         */
        post: operations["createModelPrice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-routing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * By which rules tasks are given their models
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getModelRouting"];
        /**
         * Set by which rules tasks are given their models
         * @description For tasks that are handed out from then on; other servers know within 30 seconds.
         *
         *     Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        put: operations["setModelRouting"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-routing/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The model that such a task would be given, and by which rule
         * @description Unless its agent has a `model` of its own: such an agent keeps it.
         *
         *     Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getModelRoutingPreview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/model-routing/savings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the tokens of a time cost, and what the dearest model would have cost
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getModelRoutingSavings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/provider-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The providers that refuse the workspace, and until when
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listProviderLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/provider-limits/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * The provider works again: let go on what waits for it
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        delete: operations["removeProviderLimit"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The budgets of the workspace, the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listBudgets"];
        put?: never;
        /**
         * Limit the tokens that the workspace, a project, a milestone or a task may use in a period
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["createBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One budget
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getBudget"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Raise or lower it, or change its period or policy
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        patch: operations["changeBudget"];
        trace?: never;
    };
    "/api/v1/budgets/{id}/reallocate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move tokens that are not used to another budget
         * @description Callers: users with the role ADMIN or above; API keys with that role and the scope `workspace:admin`.
         */
        post: operations["reallocateBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{id}/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which steps a budget has reached, and when, the newest first
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["listBudgetAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{id}/projection": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How fast a budget is used, when it will be exhausted, and what to do
         * @description Callers: users with the role VIEWER or above; API keys with that role and the scope `tasks:read`.
         */
        get: operations["getProjection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gateway/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A gateway is there, and these are its sessions
         * @description Callers: gateways with a token that they signed.
         */
        post: operations["sendGatewayHeartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gateway/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report events of sessions: started, exited, never started
         * @description Callers: gateways with a token that they signed.
         */
        post: operations["reportSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/gateway/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The sessions that must stop or pause; waits until there are some
         * @description Callers: gateways with a token that they signed.
         */
        post: operations["getGatewaySignals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "task.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A task was created
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendTaskCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.status_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A task has gone from one status to another
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendTaskStatusChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Somebody has changed a task
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendTaskUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A run has told how far it is
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendTaskProgress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.dependency_cycle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tasks wait for each other, and have failed for it
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendTaskDependencyCycle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "run.state_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A run has gone from one state to another
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendRunStateChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "run.hung_warning": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A run is far past its estimate and makes no progress
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendRunHungWarning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "run.split_brain_conflict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Two hold a task; the older one is told to stop
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendRunSplitBrainConflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "question.asked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A run has asked people a question, and its task waits for the answer
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendQuestionAsked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "question.answered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Somebody has answered a question, and its task goes on
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendQuestionAnswered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "question.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Nobody has answered a question in time
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendQuestionExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * 50, 75, 90 or 100 % of a budget are used
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendBudgetAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "agent.status_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An agent has gone from one status to another
         * @description The body of the event, as the stream of events and the channels of Valkey carry it.
         */
        post: operations["sendAgentStatusChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description Stable: programs decide by it.
         * @enum {string}
         */
        ErrorCode: "validation_failed" | "malformed_request" | "malformed_json" | "malformed_cursor" | "malformed_header" | "workspace_required" | "run_required" | "payload_too_large" | "headers_too_large" | "request_timeout" | "unsupported_media_type" | "method_not_allowed" | "unauthenticated" | "invalid_token" | "invalid_gateway_token" | "invalid_metrics_token" | "invalid_hook_signature" | "token_expired" | "token_revoked" | "wrong_token_kind" | "invalid_credentials" | "email_not_verified" | "invalid_refresh_token" | "forbidden" | "insufficient_scope" | "rate_limited" | "too_many_streams" | "queue_full" | "exceeds_queue" | "route_not_found" | "workspace_not_found" | "task_not_found" | "run_not_found" | "agent_not_found" | "project_not_found" | "budget_not_found" | "provider_limit_not_found" | "pause_not_found" | "webhook_not_found" | "inbound_hook_not_found" | "milestone_not_found" | "dependency_not_found" | "member_not_found" | "invitation_not_found" | "api_key_not_found" | "session_not_found" | "user_not_found" | "events_expired" | "illegal_transition" | "cascade_too_large" | "subtask_limit" | "stale_run" | "question_closed" | "question_not_found" | "too_many_questions" | "budget_period_taken" | "budget_exceeded" | "usage_report_conflict" | "unknown_model" | "version_mismatch" | "dependency_cycle" | "dependency_locked" | "task_closed" | "project_archived" | "milestone_archived" | "secrets_unreadable" | "lease_renewals_exhausted" | "agent_terminated" | "agent_draining" | "agent_in_use" | "agent_is_push" | "webhook_disabled" | "webhook_limit" | "webhook_unsigned" | "inbound_hook_disabled" | "inbound_hook_limit" | "hook_rule_refused" | "price_exists" | "email_taken" | "slug_taken" | "last_operator" | "last_owner" | "already_member" | "idempotency_key_reused" | "idempotency_in_progress" | "conflict_retry" | "database_unavailable" | "gateway_draining" | "issuer_unavailable" | "outcome_unknown" | "resource_exhausted" | "shutting_down" | "internal_error";
        ProblemField: {
            /** @example dependsOn[0].taskId */
            field: string;
            /** @example must be a UUID */
            message: string;
        };
        Problem: {
            /** @example urn:drover:error:validation_failed */
            type: string;
            title: string;
            status: number;
            /** @description Stable: programs decide by it. */
            code: components["schemas"]["ErrorCode"];
            detail?: string;
            /** @description The remedy. */
            advice: string;
            errors?: components["schemas"]["ProblemField"][];
            /** @description The path that was asked for. */
            instance: string;
            requestId: string;
        } & {
            [key: string]: unknown;
        };
        SignIn: {
            /** @example ada@example.com */
            email: string;
            password: string;
            /**
             * Format: uuid
             * @description Makes the access token good for this workspace alone; X-Workspace-Id is then not needed.
             */
            workspaceId?: string;
        };
        TokenPair: {
            /** @example Bearer */
            tokenType: string;
            accessToken: string;
            /** Format: date-time */
            expiresAt: string;
            /** @example 900 */
            expiresInSeconds: number;
            /** @description Good for one refresh, which gives the next one. */
            refreshToken: string;
            /** Format: date-time */
            refreshExpiresAt: string;
            /** Format: uuid */
            sessionId: string;
            /** Format: uuid */
            userId: string;
        };
        RefreshTokens: {
            refreshToken: string;
            /**
             * Format: uuid
             * @description Makes the access token good for this workspace alone; X-Workspace-Id is then not needed.
             */
            workspaceId?: string;
        };
        SignUp: {
            /** @example ada@example.com */
            email: string;
            name: string;
            password: string;
        };
        User: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            isOperator: boolean;
            /** Format: date-time */
            disabledAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        Membership: {
            /** Format: uuid */
            workspaceId: string;
            name: string;
            slug: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        Profile: {
            user: components["schemas"]["User"];
            sessionId: string;
            memberships: components["schemas"]["Membership"][];
        };
        Caller: {
            /** @enum {string} */
            kind: "user" | "agent" | "run" | "api_key";
            /** Format: uuid */
            workspaceId: string;
            /**
             * @description Of a user or an API key: what it may do in the workspace at most
             * @enum {string|null}
             */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER" | null;
            /** @description What an API key is good for, with all that its scopes include */
            scopes: ("tasks:read" | "tasks:write" | "questions:answer" | "agents:read" | "agents:write" | "projects:read" | "projects:write" | "workspace:admin" | "coordinator:admin")[] | null;
            /**
             * Format: uuid
             * @description The user, or the one who made the API key
             */
            userId: string | null;
            /** Format: uuid */
            apiKeyId: string | null;
            /**
             * Format: uuid
             * @description The agent, or the one of the run
             */
            agentId: string | null;
            /** Format: uuid */
            runId: string | null;
            /**
             * Format: uuid
             * @description The task of the run
             */
            taskId: string | null;
        };
        Session: {
            /** Format: uuid */
            id: string;
            /** @description Whether this request belongs to it. */
            current: boolean;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            lastUsedAt: string;
            /** Format: date-time */
            expiresAt: string;
            userAgent: string | null;
            ipAddress: string | null;
        };
        SessionList: {
            items: components["schemas"]["Session"][];
        };
        ChangePassword: {
            currentPassword: string;
            newPassword: string;
        };
        CreateUser: {
            /** @example ada@example.com */
            email: string;
            name: string;
            /** @description Left out, one is made and shown in the answer, once. */
            password?: string;
            isOperator?: boolean;
        };
        NewUser: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            isOperator: boolean;
            /** Format: date-time */
            disabledAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Shown once, when the request gave no password. */
            generatedPassword?: string;
        };
        UserPage: {
            items: components["schemas"]["User"][];
            nextCursor: string | null;
        };
        ChangeUser: {
            name?: string;
            isOperator?: boolean;
            /** @description A disabled user is signed out everywhere. */
            disabled?: boolean;
        };
        NewPassword: {
            /** Format: uuid */
            userId: string;
            /** @description Shown once. */
            generatedPassword: string;
        };
        CreateWorkspace: {
            name: string;
            /** @description Made of the name when left out. */
            slug?: string;
        };
        Workspace: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** Format: date-time */
            archivedAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        OwnWorkspace: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            /** Format: date-time */
            archivedAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        WorkspacePage: {
            items: components["schemas"]["OwnWorkspace"][];
            nextCursor: string | null;
        };
        RenameWorkspace: {
            name: string;
        };
        Member: {
            /** Format: uuid */
            userId: string;
            email: string;
            name: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        MemberPage: {
            items: components["schemas"]["Member"][];
            nextCursor: string | null;
        };
        AddMember: {
            /** Format: uuid */
            userId: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        ChangeMember: {
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        Invitation: {
            /**
             * Format: uuid
             * @description Tell it nobody but the invited: with it the user of that address accepts.
             */
            id: string;
            email: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
            /** Format: uuid */
            invitedBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
        };
        InvitationPage: {
            items: components["schemas"]["Invitation"][];
            nextCursor: string | null;
        };
        CreateInvitation: {
            /** @example ada@example.com */
            email: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        OwnInvitation: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            workspaceId: string;
            workspaceName: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
            invitedByName: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
        };
        OwnInvitationPage: {
            items: components["schemas"]["OwnInvitation"][];
            nextCursor: string | null;
        };
        AcceptedInvitation: {
            /** Format: uuid */
            workspaceId: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
        };
        CreateApiKey: {
            name: string;
            scopes: ("tasks:read" | "tasks:write" | "questions:answer" | "agents:read" | "agents:write" | "projects:read" | "projects:write" | "workspace:admin" | "coordinator:admin")[];
            /**
             * @description Default MEMBER.
             * @enum {string}
             */
            role?: "ADMIN" | "MEMBER" | "VIEWER";
            /** @description Default 7776000, 90 days. */
            expiresInSeconds?: number;
        };
        NewApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The part of the key that is no secret. */
            prefix: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
            scopes: ("tasks:read" | "tasks:write" | "questions:answer" | "agents:read" | "agents:write" | "projects:read" | "projects:write" | "workspace:admin" | "coordinator:admin")[];
            /** Format: uuid */
            createdBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description Up to two minutes behind.
             */
            lastUsedAt: string | null;
            /** Format: date-time */
            revokedAt: string | null;
            /**
             * @description Shown once.
             * @example drv_1a2b3c4d_…
             */
            key: string;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The part of the key that is no secret. */
            prefix: string;
            /** @enum {string} */
            role: "VIEWER" | "MEMBER" | "ADMIN" | "OWNER";
            scopes: ("tasks:read" | "tasks:write" | "questions:answer" | "agents:read" | "agents:write" | "projects:read" | "projects:write" | "workspace:admin" | "coordinator:admin")[];
            /** Format: uuid */
            createdBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description Up to two minutes behind.
             */
            lastUsedAt: string | null;
            /** Format: date-time */
            revokedAt: string | null;
        };
        ApiKeyPage: {
            items: components["schemas"]["ApiKey"][];
            nextCursor: string | null;
        };
        AgentToken: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            /** Format: uuid */
            issuedBy: string;
            /**
             * Format: uuid
             * @description The API key with which it was issued; `issuedBy` has made it.
             */
            issuedByKey: string | null;
            /** Format: date-time */
            issuedAt: string;
            /** Format: date-time */
            expiresAt: string;
        };
        AgentTokenPage: {
            items: components["schemas"]["AgentToken"][];
            nextCursor: string | null;
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            actorKind: "user" | "api_key";
            /** Format: uuid */
            actorId: string;
            /**
             * @description The e-mail address of the user, or the name of the API key, as it was then
             * @example ann@example.org
             */
            actorName: string | null;
            /**
             * @description The `operationId` in this document
             * @example revokeApiKey
             */
            operation: string;
            /**
             * @description With its ids, without the query
             * @example /api/v1/workspaces/0198c5a0-1111-7000-8000-000000000001/api-keys/0198c5a0-2222-7000-8000-000000000001
             */
            path: string;
            /**
             * @description 2xx: the change was made; 403: it was refused
             * @example 204
             */
            status: number;
            /** @description That of the answer, and of the lines of the log */
            requestId: string;
            /**
             * @description The address that the request came from
             * @example 203.0.113.7
             */
            address: string;
        };
        AuditEntryPage: {
            items: components["schemas"]["AuditEntry"][];
            nextCursor: string | null;
        };
        CreateProject: {
            name: string;
            description?: string | null;
        };
        Project: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string | null;
            /** Format: date-time */
            archivedAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ProjectPage: {
            items: components["schemas"]["Project"][];
            nextCursor: string | null;
        };
        ChangeProject: {
            name?: string;
            description?: string | null;
        };
        CreateMilestone: {
            name: string;
            description?: string | null;
            /** Format: date-time */
            dueAt?: string | null;
        };
        Milestone: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string | null;
            /** Format: date-time */
            archivedAt: string | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: uuid */
            projectId: string;
            /** Format: date-time */
            dueAt: string | null;
        };
        MilestonePage: {
            items: components["schemas"]["Milestone"][];
            nextCursor: string | null;
        };
        ChangeMilestone: {
            name?: string;
            description?: string | null;
            /** Format: date-time */
            dueAt?: string | null;
        };
        QuietHours: {
            from: string;
            /** @description On the next day unless it is later than `from` */
            to: string;
            /**
             * @description An IANA name
             * @example Europe/Berlin
             */
            timeZone: string;
            /** @description Days on which they begin; without any, all */
            days?: ("SUN" | "MON" | "TUE" | "WED" | "THU" | "FRI" | "SAT")[];
            /** @description Events that come all the same */
            exceptTypes?: ("*" | "task" | "task.*" | "task.created" | "task.status_changed" | "task.updated" | "task.progress" | "task.dependency_cycle" | "run" | "run.*" | "run.state_changed" | "run.hung_warning" | "run.split_brain_conflict" | "question" | "question.*" | "question.asked" | "question.answered" | "question.expired" | "budget" | "budget.*" | "budget.alert" | "agent" | "agent.*" | "agent.status_changed")[];
        };
        CreateWebhook: {
            /**
             * @description Default signed: for programs. Others: for people
             * @enum {string}
             */
            kind?: "signed" | "slack" | "discord" | "email";
            /** @description An https:// URL of a public address, with the port 443 or 8443; an operator may allow other networks. For slack and discord theirs, which is a secret. */
            url?: string;
            /** @description email: members of the workspace, by user id or address */
            recipients?: string[];
            /** @description Names of events; `task.*`, or `task`, for all of tasks, `*` for all */
            events: ("*" | "task" | "task.*" | "task.created" | "task.status_changed" | "task.updated" | "task.progress" | "task.dependency_cycle" | "run" | "run.*" | "run.state_changed" | "run.hung_warning" | "run.split_brain_conflict" | "question" | "question.*" | "question.asked" | "question.answered" | "question.expired" | "budget" | "budget.*" | "budget.alert" | "agent" | "agent.*" | "agent.status_changed")[];
            description?: string | null;
            /** @description Whether each message also has GitHub’s header `X-Hub-Signature-256`, with the secret’s whole text as the key */
            hubSignature?: boolean;
            /**
             * @description For people: instead of the sentence of an event; `{{task.title}}` is replaced
             * @example *{{task.title}}*: {{text}}
             */
            template?: string | null;
            /** @description For people: seconds between two messages; what comes meanwhile is joined */
            digestSeconds?: number;
            /** @description For people: events that one message tells one by one */
            digestMax?: number;
            /** @description For people: when messages wait */
            quietHours?: components["schemas"]["QuietHours"] | null;
        };
        NewWebhook: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "signed" | "slack" | "discord" | "email";
            /** @description slack and discord: cut, as it is a secret; email: mailto: */
            url: string;
            /** @description email: users */
            recipients: string[] | null;
            events: string[];
            description: string | null;
            hubSignature: boolean;
            enabled: boolean;
            /**
             * @description gone: it answered so
             * @enum {string|null}
             */
            disabledReason: "user" | "gone" | null;
            consecutiveFailures: number;
            /**
             * Format: date-time
             * @description Until then messages are signed with it, too
             */
            previousSecretExpiresAt: string | null;
            template: string | null;
            digestSeconds: number | null;
            digestMax: number | null;
            quietHours: components["schemas"]["QuietHours"] | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description The signing secret, in this answer only; null for people */
            secret: string | null;
        };
        Webhook: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "signed" | "slack" | "discord" | "email";
            /** @description slack and discord: cut, as it is a secret; email: mailto: */
            url: string;
            /** @description email: users */
            recipients: string[] | null;
            events: string[];
            description: string | null;
            hubSignature: boolean;
            enabled: boolean;
            /**
             * @description gone: it answered so
             * @enum {string|null}
             */
            disabledReason: "user" | "gone" | null;
            consecutiveFailures: number;
            /**
             * Format: date-time
             * @description Until then messages are signed with it, too
             */
            previousSecretExpiresAt: string | null;
            template: string | null;
            digestSeconds: number | null;
            digestMax: number | null;
            quietHours: components["schemas"]["QuietHours"] | null;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        WebhookPage: {
            items: components["schemas"]["Webhook"][];
            nextCursor: string | null;
        };
        ChangeWebhook: {
            /** @description An https:// URL of a public address, with the port 443 or 8443; an operator may allow other networks. For slack and discord theirs, which is a secret. */
            url?: string;
            /** @description email: members of the workspace, by user id or address */
            recipients?: string[];
            /** @description Names of events; `task.*`, or `task`, for all of tasks, `*` for all */
            events?: ("*" | "task" | "task.*" | "task.created" | "task.status_changed" | "task.updated" | "task.progress" | "task.dependency_cycle" | "run" | "run.*" | "run.state_changed" | "run.hung_warning" | "run.split_brain_conflict" | "question" | "question.*" | "question.asked" | "question.answered" | "question.expired" | "budget" | "budget.*" | "budget.alert" | "agent" | "agent.*" | "agent.status_changed")[];
            description?: string | null;
            /** @description Whether each message also has GitHub’s header `X-Hub-Signature-256`, with the secret’s whole text as the key */
            hubSignature?: boolean;
            /**
             * @description For people: instead of the sentence of an event; `{{task.title}}` is replaced
             * @example *{{task.title}}*: {{text}}
             */
            template?: string | null;
            /** @description For people: seconds between two messages; what comes meanwhile is joined */
            digestSeconds?: number;
            /** @description For people: events that one message tells one by one */
            digestMax?: number;
            /** @description For people: when messages wait */
            quietHours?: components["schemas"]["QuietHours"] | null;
            /** @description What waits for a disabled one waits on */
            enabled?: boolean;
        };
        DeliveryAttempt: {
            number: number;
            /** Format: date-time */
            startedAt: string;
            durationMs: number;
            url: string;
            status: number | null;
            /** @description Why there was no answer */
            error: string | null;
            /** @description The first 4 KiB */
            answer: string | null;
        };
        WebhookDelivery: {
            /** @description The id of the event */
            id: string;
            event: string;
            /** @enum {string} */
            state: "pending" | "delivered" | "dead";
            /** @description The header `webhook-id` */
            messageId: string;
            /** @description As it is sent; to people a sentence is made of it */
            body: string;
            /** Format: date-time */
            occurredAt: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** @description The last 20 */
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        WebhookDeliveryPage: {
            items: components["schemas"]["WebhookDelivery"][];
            nextCursor: string | null;
        };
        ReplayDeliveries: {
            /** @description These deliveries */
            ids?: string[];
            /**
             * @description All in this state: `dead` for what has failed
             * @enum {string}
             */
            state?: "pending" | "delivered" | "dead";
            /**
             * Format: date-time
             * @description Events from then on
             */
            from?: string;
            /**
             * Format: date-time
             * @description Events before
             */
            to?: string;
        };
        ReplayedDeliveries: {
            replayed: number;
        };
        CreatePause: {
            /**
             * @description everything: of the whole installation, for operators
             * @enum {string}
             */
            scope: "workspace" | "task_type" | "everything";
            /** @description With the scope task_type: which */
            taskType?: string;
            /** @example The licence server is down */
            reason: string;
            /**
             * Format: date-time
             * @description When it ends by itself
             */
            until?: string;
        };
        Pause: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            scope: "workspace" | "task_type" | "everything";
            taskType: string | null;
            reason: string;
            /**
             * @description Or api_key:<id>
             * @example user:0190…
             */
            pausedBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            until: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description As pausedBy; null: its time was over */
            endedBy: string | null;
        };
        PausePage: {
            items: components["schemas"]["Pause"][];
            nextCursor: string | null;
        };
        EndedPause: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            scope: "workspace" | "task_type" | "everything";
            taskType: string | null;
            reason: string;
            /**
             * @description Or api_key:<id>
             * @example user:0190…
             */
            pausedBy: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            until: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description As pausedBy; null: its time was over */
            endedBy: string | null;
            /** @description Other pauses that still hold tasks which this one covered; each has to be ended */
            remaining: string[];
        };
        Limits: {
            /** Format: uuid */
            workspaceId: string;
            /** @description Tasks that may wait. 0: no limit; null: MAX_QUEUE_DEPTH_PER_WORKSPACE of the installation */
            maxQueueDepth: number | null;
            /** @description Sessions of push agents that may be spawned in a minute. 0: none at all; null: no limit of its own, only that of the installation */
            spawnsPerMinute: number | null;
            /** @description What holds in the end; 0: no limit */
            effectiveMaxQueueDepth: number;
            /** @description SPAWNS_PER_MINUTE: of all workspaces together, beside their own; 0: no limit */
            installationSpawnsPerMinute: number;
            /** @description 0 until somebody has set a limit */
            version: number;
        };
        SetLimits: {
            /** @description Tasks that may wait. 0: no limit; null: MAX_QUEUE_DEPTH_PER_WORKSPACE of the installation */
            maxQueueDepth: number | null;
            /** @description Sessions of push agents that may be spawned in a minute. 0: none at all; null: no limit of its own, only that of the installation */
            spawnsPerMinute: number | null;
        };
        Agent: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            workspaceId: string;
            name: string;
            /** @enum {string} */
            mode: "pull" | "push";
            model: string | null;
            /** @enum {string} */
            status: "STARTING" | "IDLE" | "WORKING" | "DRAINING" | "ERROR" | "TERMINATED";
            /** @description With `agent:` and its id once a task was assigned to it */
            capabilities: string[];
            /** @description It takes tasks of these types; empty: of all */
            taskTypes: string[];
            /** @description It takes tasks only that require all of these */
            dedicatedTo: string[];
            coordinatorEnabled: boolean;
            maxConcurrentTasks: number;
            /** @description Runs that it holds now */
            liveRuns: number;
            heartbeatIntervalSeconds: number;
            staleThresholdSeconds: number;
            hostName: string | null;
            pid: number | null;
            agentVersion: string | null;
            restartCount: number;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The command of the sessions of a push agent; nobody starts that of a pull agent */
            command: string[];
            /** @description Their names, each with "[redacted]" */
            secrets: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Its command could not be started: it is given nothing until then, or a registration
             */
            restingUntil: string | null;
            /** Format: date-time */
            lastSeenAt: string | null;
            terminationReason: string | null;
            /** Format: date-time */
            drainingAt: string | null;
            /** Format: date-time */
            errorAt: string | null;
            /** Format: date-time */
            terminatedAt: string | null;
            version: number;
            /** Format: uuid */
            createdBy: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The process that registered last
             */
            bootId: string | null;
        };
        AgentPage: {
            items: components["schemas"]["Agent"][];
            nextCursor: string | null;
        };
        RegisterAgent: {
            /** @example Dev Agent #1 */
            name: string;
            /**
             * @description pull: it claims its tasks itself (default). push: a session is started for each task.
             * @enum {string}
             */
            mode?: "pull" | "push";
            /** @example claude-sonnet-4 */
            model?: string | null;
            /**
             * @description It gets tasks that require none but these.
             * @example [
             *       "typescript",
             *       "nestjs",
             *       "prisma"
             *     ]
             */
            capabilities?: string[];
            /**
             * @description It gets tasks of these types only; empty: of all (default).
             * @example [
             *       "research"
             *     ]
             */
            taskTypes?: string[];
            /**
             * @description Capabilities of its own for which it is kept free: it gets tasks only that require all of them.
             * @example [
             *       "gpu"
             *     ]
             */
            dedicatedTo?: string[];
            /** @description Whether the coordinator may assign to it; default true. */
            coordinatorEnabled?: boolean;
            /** @description Runs that it holds at once; default 1. */
            maxConcurrentTasks?: number;
            /** @description Default 30. */
            heartbeatIntervalSeconds?: number;
            /** @description Silence after which it is taken for dead; more than the interval. Default 180, or three intervals. */
            staleThresholdSeconds?: number;
            hostName?: string | null;
            /** @description The same as hostName. */
            hostname?: string | null;
            /** @description Not looked at: the path says which agent it is. */
            workerId?: string;
            pid?: number | null;
            agentVersion?: string | null;
            restartCount?: number;
            /**
             * Format: uuid
             * @description New at each start of the process that works as the agent: a second one is refused while the first is heard.
             */
            bootId?: string;
            /**
             * Format: uuid
             * @description The process before, where it is known to be over: it need not fall silent first.
             */
            previousBootId?: string;
            /** @description Up to 16 KiB */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description The command that the gateway runs for each session of a push agent: an argument vector, never a line for a shell. A push agent must have one; a pull agent’s is kept and started by nobody.
             * @example [
             *       "node",
             *       "agent.js"
             *     ]
             */
            command?: string[];
            /**
             * @description For the environment of the command: encrypted, given to sessions of the agent, and shown to nobody. Replaces all; a "[redacted]" keeps what it hid.
             * @example {
             *       "OPENAI_API_KEY": "sk-…"
             *     }
             */
            secrets?: {
                [key: string]: string;
            };
        };
        AgentHealth: {
            /** Format: uuid */
            agentId: string;
            /**
             * @description unknown: it has never sent a heartbeat
             * @enum {string}
             */
            status: "healthy" | "degraded" | "stale" | "unknown";
            /** @enum {string} */
            agentStatus: "STARTING" | "IDLE" | "WORKING" | "DRAINING" | "ERROR" | "TERMINATED";
            /** Format: date-time */
            lastSeenAt: string | null;
            /** @description Since it was last seen */
            ageSeconds: number | null;
            /**
             * Format: date-time
             * @description null until it has sent a heartbeat by itself
             */
            nextExpectedAt: string | null;
            heartbeatIntervalSeconds: number;
            staleThresholdSeconds: number;
            liveRuns: number;
            maxConcurrentTasks: number;
            /** Format: uuid */
            currentTaskId: string | null;
            progressPercent: number | null;
            currentStep: string | null;
            memoryMb: number | null;
            cpuPercent: number | null;
            metadata: {
                [key: string]: unknown;
            };
        };
        Heartbeat: {
            /** Format: date-time */
            seenAt: string;
            /** @enum {string} */
            status: "healthy" | "degraded";
            /** Format: uuid */
            currentTaskId: string | null;
            progressPercent: number | null;
            currentStep: string | null;
            memoryMb: number | null;
            cpuPercent: number | null;
        };
        HeartbeatPage: {
            items: components["schemas"]["Heartbeat"][];
            nextCursor: string | null;
        };
        IssueAgentToken: {
            /** @description At most, and by default, AGENT_TOKEN_SECONDS (90 days). */
            expiresInSeconds?: number;
            /** @description Refuse all earlier tokens of the agent, and of its runs, from now on. */
            rotate?: boolean;
        };
        NewAgentToken: {
            /** @description Shown once. */
            token: string;
            /** Format: uuid */
            agentId: string;
            /** Format: date-time */
            expiresAt: string;
        };
        AgentMetrics: {
            cpuPercent?: number | null;
            memoryMb?: number | null;
            tasksCompleted?: number | null;
        };
        HeartbeatRequest: {
            /**
             * @description idle, busy, working and running are taken as healthy.
             * @example healthy
             * @enum {string}
             */
            status: "healthy" | "degraded";
            /**
             * Format: uuid
             * @description Shown with its health. Where the gateway sends no heartbeats, it keeps the lease of that task.
             */
            currentTaskId?: string | null;
            progressPercent?: number | null;
            /** @example Running tsc --noEmit */
            currentStep?: string | null;
            memoryMb?: number | null;
            /** @description Percent of one core: above 100 when it uses several. */
            cpuPercent?: number | null;
            /** @description Up to 16 KiB. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The same as memoryMb and cpuPercent; tasksCompleted goes to the metadata. */
            metrics?: components["schemas"]["AgentMetrics"];
            /** @description Not looked at: the path says which agent it is. */
            workerId?: string;
            /** @description Not looked at: the server's clock counts. */
            timestamp?: string;
        };
        HeartbeatAnswer: {
            /** Format: date-time */
            acknowledgedAt: string;
            /**
             * Format: date-time
             * @description When the next heartbeat should be here
             */
            nextExpectedAt: string;
        };
        CreateTask: {
            /** @example Fix TypeScript strict errors */
            title: string;
            description?: string;
            /** @example development */
            taskType: string;
            /** @description 10 first; 5 when left out */
            priority?: number;
            /** Format: uuid */
            projectId?: string;
            /**
             * Format: uuid
             * @description Needs projectId
             */
            milestoneId?: string;
            estimatedDurationMinutes?: number;
            /** @description 1 to 100, by which the tokens that it uses are estimated: 1794 a point, times what was learned of such tasks */
            estimatedComplexity?: number;
            /** @description What it will use. When left out: estimated by estimatedComplexity, else by what such tasks used */
            estimatedTokens?: string | number;
            /** @description A run that takes longer is ended. DEFAULT_TIMEOUT_SECONDS when left out; null: never */
            timeoutSeconds?: number | null;
            /** @description 3 when left out */
            maxRetries?: number;
            /** @description Doubles with each retry; 300 when left out */
            retryBackoffSeconds?: number;
            /** @description Aborted when it has waited that long */
            queueExpiresInSeconds?: number;
            requiredCapabilities?: string[];
            /**
             * Format: uuid
             * @description The agent that alone may take it
             */
            agentId?: string;
            /** @description The input of the work, for the agent */
            inputContext?: {
                [key: string]: unknown;
            };
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description For the environment of what executes the task: encrypted, given to its run, and shown to nobody.
             * @example {
             *       "GITHUB_TOKEN": "ghp_…"
             *     }
             */
            secrets?: {
                [key: string]: string;
            };
            tags?: string[];
            dependsOn?: (string | {
                /** Format: uuid */
                taskId?: string;
                ref?: string;
                /** @enum {string} */
                policy?: "block" | "fail" | "ignore";
            })[];
            /**
             * Format: uuid
             * @description For agents: the task that they hold, of which it is a subtask. A run has but one.
             */
            parentTaskId?: string;
            /** @description For agents and runs: when the run releases its task, or fails and is retried, the task waits until this subtask has ended. One that completes does not wait. */
            blocksParent?: boolean;
        };
        Dependency: {
            /** Format: uuid */
            taskId: string;
            /** @enum {string} */
            policy: "block" | "fail" | "ignore";
            /** @description It no longer holds the task back */
            settled: boolean;
        };
        /**
         * @description What it is paused for, or was before it ended
         * @enum {string}
         */
        PausedFor: "request" | "question" | "budget" | "provider";
        Task: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            workspaceId: string;
            title: string;
            description: string | null;
            /** @example development */
            taskType: string;
            /** @enum {string} */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @description 1 to 10, 10 first */
            priority: number;
            /** Format: uuid */
            projectId: string | null;
            /** Format: uuid */
            milestoneId: string | null;
            /**
             * Format: uuid
             * @description The agent of the live run, or of the last one
             */
            agentId: string | null;
            /**
             * Format: uuid
             * @description The live run
             */
            runId: string | null;
            sessionKey: string | null;
            /** @description 0 to 100 */
            progressPercent: number;
            currentStep: string | null;
            estimatedDurationMinutes: number | null;
            /** Format: date-time */
            estimatedCompletionAt: string | null;
            /** @description 1 to 100, as its client has it */
            estimatedComplexity: number | null;
            /**
             * @description What a run holds of each budget that covers it; a 64-bit number
             * @example 8970
             */
            estimatedTokens: string;
            /**
             * @description Where estimatedTokens comes from
             * @enum {string}
             */
            estimateSource: "given" | "complexity" | "history" | "default";
            timeoutSeconds: number | null;
            retryCount: number;
            maxRetries: number;
            retryBackoffSeconds: number;
            /**
             * Format: date-time
             * @description When an ABORTED task is tried again
             */
            retryAt: string | null;
            lastError: string | null;
            /** @description One of cancelled, dependency_cancelled, queue_expired, agent_stale, agent_terminated, lease_expired, timeout, oom, exit_code, signal, infrastructure, setup, unknown, released, spawn_failed, gateway_restart, budget_exceeded, secrets_unreadable */
            abortReason: string | null;
            /** @description The message of the abortion, such as the reason of a cancellation */
            abortMessage: string | null;
            failureReason: string | null;
            /** @description Tasks that must complete first */
            dependsOn: string[];
            /** @description Up to 1,000 of the tasks that wait for this one */
            blocks: string[];
            /** @description How many of dependsOn still hold it back */
            unmetDependencies: number;
            /** @description Where one task is asked for */
            dependencies?: components["schemas"]["Dependency"][];
            requiredCapabilities: string[];
            /** @description Secrets in it are shown as "[redacted]", but to the run that holds the task */
            inputContext: {
                [key: string]: unknown;
            } | null;
            /** @description Secrets in it are shown as "[redacted]", but to the run that holds the task */
            outputResult: {
                [key: string]: unknown;
            } | null;
            summary: string | null;
            /** @description Secrets in it are shown as "[redacted]", but to the run that holds the task */
            checkpointData: {
                [key: string]: unknown;
            } | null;
            /** @description Secrets in it are shown as "[redacted]", but to the run that holds the task */
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description Their names, each with "[redacted]"; the run that holds the task sees the values */
            secrets: {
                [key: string]: unknown;
            } | null;
            tags: string[];
            /** @example user:0190… */
            pausedBy: string | null;
            /** @description What it is paused for, or was before it ended */
            pausedFor: components["schemas"]["PausedFor"] | null;
            pauseReason: string | null;
            /**
             * Format: date-time
             * @description Aborted when it still waits then
             */
            queueExpiresAt: string | null;
            /** @description Rises with each change; for If-Match */
            version: number;
            /** @description How many runs it has had */
            generation: number;
            /** Format: uuid */
            createdBy: string | null;
            /**
             * Format: uuid
             * @description The task whose run has created it
             */
            parentTaskId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: date-time
             * @description Since when it could run
             */
            readyAt: string | null;
            /** Format: date-time */
            assignedAt: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            pausedAt: string | null;
            /** Format: date-time */
            completedAt: string | null;
            /** Format: date-time */
            failedAt: string | null;
            /** Format: date-time */
            abortedAt: string | null;
            /** Format: date-time */
            archivedAt: string | null;
        };
        BatchTask: {
            /** @example Fix TypeScript strict errors */
            title: string;
            description?: string;
            /** @example development */
            taskType: string;
            /** @description 10 first; 5 when left out */
            priority?: number;
            /** Format: uuid */
            projectId?: string;
            /**
             * Format: uuid
             * @description Needs projectId
             */
            milestoneId?: string;
            estimatedDurationMinutes?: number;
            /** @description 1 to 100, by which the tokens that it uses are estimated: 1794 a point, times what was learned of such tasks */
            estimatedComplexity?: number;
            /** @description What it will use. When left out: estimated by estimatedComplexity, else by what such tasks used */
            estimatedTokens?: string | number;
            /** @description A run that takes longer is ended. DEFAULT_TIMEOUT_SECONDS when left out; null: never */
            timeoutSeconds?: number | null;
            /** @description 3 when left out */
            maxRetries?: number;
            /** @description Doubles with each retry; 300 when left out */
            retryBackoffSeconds?: number;
            /** @description Aborted when it has waited that long */
            queueExpiresInSeconds?: number;
            requiredCapabilities?: string[];
            /**
             * Format: uuid
             * @description The agent that alone may take it
             */
            agentId?: string;
            /** @description The input of the work, for the agent */
            inputContext?: {
                [key: string]: unknown;
            };
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description For the environment of what executes the task: encrypted, given to its run, and shown to nobody.
             * @example {
             *       "GITHUB_TOKEN": "ghp_…"
             *     }
             */
            secrets?: {
                [key: string]: string;
            };
            tags?: string[];
            dependsOn?: (string | {
                /** Format: uuid */
                taskId?: string;
                ref?: string;
                /** @enum {string} */
                policy?: "block" | "fail" | "ignore";
            })[];
            /**
             * Format: uuid
             * @description For agents: the task that they hold, of which it is a subtask. A run has but one.
             */
            parentTaskId?: string;
            /** @description For agents and runs: when the run releases its task, or fails and is retried, the task waits until this subtask has ended. One that completes does not wait. */
            blocksParent?: boolean;
            /** @description Your own name for it within this batch */
            ref?: string;
        };
        CreateTasks: {
            tasks: components["schemas"]["BatchTask"][];
        };
        TaskList: {
            /** @description In the order of the request */
            items: components["schemas"]["Task"][];
        };
        BulkFilter: {
            /** @description One of these: repeated, or with commas. */
            status?: ("PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED")[];
            priority?: number;
            /** @description At least; `priority>=8` is the same. */
            priorityGte?: number;
            /** @description At most; `priority<=3` is the same. */
            priorityLte?: number;
            /** @description All of these: repeated, or with commas. */
            tags?: string[];
            /**
             * Format: uuid
             * @description The agent of the live run, or of the last one.
             */
            agentId?: string;
            /**
             * Format: uuid
             * @description The task whose run has created it.
             */
            parentTaskId?: string;
            /** @description Those that wait for an answer to their question, or do not */
            waitsForAnswer?: boolean;
            /** Format: uuid */
            projectId?: string;
            /** Format: uuid */
            milestoneId?: string;
            /** @example development */
            taskType?: string;
            /** @description Somewhere in the title or the description, in upper or lower case. */
            text?: string;
            /**
             * Format: date-time
             * @description At this time or later.
             */
            createdAfter?: string;
            /**
             * Format: date-time
             * @description Before this time.
             */
            createdBefore?: string;
            /**
             * Format: date-time
             * @description At this time or later.
             */
            updatedAfter?: string;
            /**
             * Format: date-time
             * @description Before this time.
             */
            updatedBefore?: string;
        };
        BulkCommand: {
            /** @example Requirements changed */
            reason?: string;
            ids?: string[];
            filter?: components["schemas"]["BulkFilter"];
        };
        BulkResult: {
            /** @description How many tasks were named or matched */
            matched: number;
            changed: number;
            /** @description Tasks that were there already, or that may not go there */
            skipped: number;
        };
        CancelTask: {
            /** @example Requirements changed */
            reason?: string;
            /** @description Its subtasks, and everything that depends on it, are cancelled with it */
            cascade?: boolean;
        };
        TaskCommand: {
            /** @example Requirements changed */
            reason?: string;
        };
        TaskPage: {
            items: components["schemas"]["Task"][];
            /** @description null on the last page */
            nextCursor: string | null;
        };
        ThroughputSpread: {
            /**
             * @description Seconds that half of the tasks took at most
             * @example 0.4
             */
            p50: number;
            /**
             * @description Seconds that 95 % of the tasks took at most
             * @example 12.5
             */
            p95: number;
        };
        ThroughputStep: {
            /** Format: date-time */
            from: string;
            completed: number;
        };
        Throughput: {
            /** @description Tasks that completed in this time */
            completed: number;
            /** @description From when a task could be taken to the start of its last run; null without tasks */
            wait: components["schemas"]["ThroughputSpread"] | null;
            /** @description How long the last run took; null without tasks */
            run: components["schemas"]["ThroughputSpread"] | null;
            /** @description Thirty of equal length, the oldest first; the last one is under way */
            steps: components["schemas"]["ThroughputStep"][];
        };
        TaskCounts: {
            /** @description PENDING, and an agent may take them */
            ready: number;
            /** @description PENDING, and waiting for other tasks */
            blocked: number;
            assigned: number;
            running: number;
            paused: number;
            /** @description ABORTED, with a time of retry */
            retrying: number;
        };
        Run: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            taskId: string;
            /** Format: uuid */
            agentId: string;
            /** @description Counts the runs of the task */
            generation: number;
            /** @enum {string} */
            state: "ASSIGNED" | "WORKING" | "IN_REVIEW" | "APPROVED" | "STALE" | "COMPLETED" | "FAILED" | "RELEASED";
            version: number;
            sessionKey: string | null;
            leaseSeconds: number;
            /** Format: date-time */
            leaseExpiresAt: string;
            /** @description The heartbeats of its agent carry the lease */
            leaseByHeartbeat: boolean;
            renewals: number;
            /** Format: date-time */
            deadlineAt: string | null;
            /** Format: date-time */
            pauseRequestedAt: string | null;
            branch: string | null;
            reviewUrl: string | null;
            endReason: string | null;
            error: string | null;
            errorClass: string | null;
            exitCode: number | null;
            signal: string | null;
            stackTrace: string | null;
            /** Format: date-time */
            assignedAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            staleAt: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** Format: date-time */
            lastReportAt: string;
            /**
             * Format: date-time
             * @description The time of its last progress or checkpoint
             */
            lastProgressAt: string | null;
            /**
             * Format: date-time
             * @description It seems to hang, and its agent was told
             */
            hungWarnedAt: string | null;
            /** @description The budgets that covered it when it was handed out */
            budgetIds: string[];
            /**
             * @description What it still holds of each of them while it lives
             * @example 8970
             */
            heldTokens: string;
            /**
             * @description What its task was expected to use; null without budgets
             * @example 8970
             */
            estimatedTokens: string | null;
            /** @example 8970 */
            usedTokens: string;
            /**
             * @description In USD, by the prices of the models
             * @example 0.042
             */
            usedCostUsd: string;
            /**
             * @description What it is to use: its agent's, or what the workspace's routing chose
             * @example claude-sonnet-4-6
             */
            model: string | null;
        };
        RunPage: {
            items: components["schemas"]["Run"][];
            /** @description null on the last page */
            nextCursor: string | null;
        };
        TaskLogActor: {
            /** @example user */
            kind: string;
            id: string | null;
        };
        TaskLogEntry: {
            /**
             * @description Rises within a task; a 64-bit number.
             * @example 88123
             */
            id: string;
            /** Format: uuid */
            taskId: string;
            /** Format: uuid */
            runId: string | null;
            /** Format: uuid */
            agentId: string | null;
            /** @enum {string} */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
            /** @example state_transition */
            event: string;
            /**
             * @description A transition by where it led to; all else by its event
             * @example task_assigned
             */
            action: string;
            message: string | null;
            details: {
                [key: string]: unknown;
            } | null;
            /** @description The version that it brought the task to */
            taskVersion: number | null;
            previousStatus: string | null;
            newStatus: string | null;
            actor: components["schemas"]["TaskLogActor"];
            sessionKey: string | null;
            stackTrace: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        TaskLogPage: {
            items: components["schemas"]["TaskLogEntry"][];
            /** @description null on the last page; with follow=true, null only while there is no entry */
            nextCursor: string | null;
        };
        RelatedTask: {
            /** Format: uuid */
            taskId: string;
            title: string;
            /** @enum {string} */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @enum {string} */
            policy: "block" | "fail" | "ignore";
            /** @description It no longer holds the waiting task back */
            settled: boolean;
            /** Format: date-time */
            settledAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        TaskDependencies: {
            /** Format: uuid */
            taskId: string;
            /** @enum {string} */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            unmetDependencies: number;
            dependsOn: components["schemas"]["RelatedTask"][];
            /** @description A page of them */
            blocks: components["schemas"]["RelatedTask"][];
            /** @description For the next page of `blocks` */
            nextCursor: string | null;
            /** @description The version of the task; for If-Match */
            version: number;
        };
        GraphTask: {
            /** Format: uuid */
            taskId: string;
            title: string;
            /** @enum {string} */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
        };
        GraphEdge: {
            /**
             * Format: uuid
             * @description The task that waits
             */
            taskId: string;
            /** Format: uuid */
            dependsOnId: string;
            /** @enum {string} */
            policy: "block" | "fail" | "ignore";
            /** @description It no longer holds the waiting task back */
            settled: boolean;
        };
        TaskGraph: {
            /** Format: uuid */
            taskId: string;
            /** @description The task itself among them */
            tasks: components["schemas"]["GraphTask"][];
            /** @description Between these tasks; 2,000 at most */
            edges: components["schemas"]["GraphEdge"][];
            /** @description There are more tasks or edges than these */
            truncated: boolean;
        };
        AddDependencies: {
            /** @description Ids, or objects with a policy for a task that does not complete. */
            dependsOn: (string | {
                /** Format: uuid */
                taskId: string;
                /**
                 * @default block
                 * @enum {string}
                 */
                policy: "block" | "fail" | "ignore";
            })[];
        };
        ReplaceDependencies: {
            /** @description Ids, or objects with a policy for a task that does not complete. */
            dependsOn: (string | {
                /** Format: uuid */
                taskId: string;
                /**
                 * @default block
                 * @enum {string}
                 */
                policy: "block" | "fail" | "ignore";
            })[];
        };
        UpdateTask: {
            title?: string;
            description?: string | null;
            /** @description 10 first */
            priority?: number;
            /** @description From the next run on */
            requiredCapabilities?: string[];
            /**
             * Format: uuid
             * @description The agent that alone may take it from the next run on; null: any that can
             */
            agentId?: string | null;
            /** @description Replaces all */
            tags?: string[];
            /** @description Replaces the whole object; a "[redacted]" that was shown keeps what it hid */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description For the environment of what executes the task: encrypted, given to its run, and shown to nobody. Replaces all, for the next run; a "[redacted]" keeps what it hid. */
            secrets?: {
                [key: string]: string;
            };
            estimatedDurationMinutes?: number | null;
            /** @description 1 to 100, by which the tokens that it uses are estimated: 1794 a point, times what was learned of such tasks */
            estimatedComplexity?: number | null;
            /** @description What it will use. When left out: estimated by estimatedComplexity, else by what such tasks used. null takes it back */
            estimatedTokens?: (string | number) | null;
            maxRetries?: number;
            retryBackoffSeconds?: number;
            /** @description From the next run on */
            timeoutSeconds?: number | null;
            /** Format: uuid */
            projectId?: string | null;
            /**
             * Format: uuid
             * @description A milestone of the project of the task
             */
            milestoneId?: string | null;
            /**
             * @description PAUSED pauses, PENDING resumes (or retries a task that failed or was aborted), ABORTED cancels, ARCHIVED archives
             * @enum {string}
             */
            status?: "PENDING" | "PAUSED" | "ABORTED" | "ARCHIVED";
            /** @description Why the status changes */
            reason?: string;
        };
        AssignTask: {
            /** Format: uuid */
            agentId: string | null;
        };
        HookRule: {
            /**
             * @description The event: issues.labeled, issue_comment.created, Note Hook, or the `type` of a generic one. What stands before a dot is for all of that name.
             * @example issues.labeled
             */
            on: string;
            /**
             * @description By dotted paths of the payload: the value there, or a list of values. All must hold; `*` in a path is any item of a list.
             * @example {
             *       "label.name": "drover"
             *     }
             */
            when?: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            do: "create_task" | "resume_task";
            /**
             * @description create_task: the body of POST /agent-tasks, without secrets. Its texts may have {{path}} of the payload.
             * @example {
             *       "title": "{{issue.title}}",
             *       "taskType": "issue"
             *     }
             */
            task?: {
                [key: string]: unknown;
            };
            /** @description create_task: no second task for the same subject. Default true. */
            once?: boolean;
            /** @description Instead of the issue or merge request; it may have {{path}}. */
            subject?: string;
            /** @description resume_task: told with the resumption, instead of the comment; it may have {{path}}. */
            text?: string;
        };
        CreateInboundHook: {
            /**
             * @description Who sends, and signs: generic is Standard Webhooks
             * @enum {string}
             */
            kind: "github" | "gitlab" | "generic";
            /** @description The first that matches decides */
            rules: components["schemas"]["HookRule"][];
            description?: string | null;
        };
        NewInboundHook: {
            /** Format: uuid */
            id: string;
            /** @description Where the events are sent, below the address of the server */
            path: string;
            /** @enum {string} */
            kind: "github" | "gitlab" | "generic";
            description: string | null;
            rules: components["schemas"]["HookRule"][];
            enabled: boolean;
            /**
             * Format: date-time
             * @description Until then it is taken as well
             */
            previousSecretExpiresAt: string | null;
            /** Format: uuid */
            createdBy: string;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description What the sender signs with, in this answer only */
            secret: string;
        };
        InboundHook: {
            /** Format: uuid */
            id: string;
            /** @description Where the events are sent, below the address of the server */
            path: string;
            /** @enum {string} */
            kind: "github" | "gitlab" | "generic";
            description: string | null;
            rules: components["schemas"]["HookRule"][];
            enabled: boolean;
            /**
             * Format: date-time
             * @description Until then it is taken as well
             */
            previousSecretExpiresAt: string | null;
            /** Format: uuid */
            createdBy: string;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        InboundHookPage: {
            items: components["schemas"]["InboundHook"][];
            nextCursor: string | null;
        };
        ChangeInboundHook: {
            /** @description The first that matches decides */
            rules?: components["schemas"]["HookRule"][];
            description?: string | null;
            /** @description Events for a disabled one are refused with 409 */
            enabled?: boolean;
        };
        InboundHookDelivery: {
            /** Format: uuid */
            id: string;
            /** @description The sender’s own id */
            deliveryId: string;
            event: string;
            /** @example github:owner/repo#12 */
            subject: string | null;
            /**
             * @description known: the subject has a task already; ignored: `reason` says why; refused: no task could be made
             * @enum {string}
             */
            outcome: "created" | "resumed" | "known" | "ignored" | "refused";
            /** @description The rule that matched, from 0 */
            rule: number | null;
            /** Format: uuid */
            taskId: string | null;
            /** @description no_rule, no_task, not_paused, or the code of an error */
            reason: string | null;
            detail: string | null;
            /** @description SHA-256 of the body */
            digest: string;
            /** Format: date-time */
            receivedAt: string;
        };
        InboundHookDeliveryPage: {
            items: components["schemas"]["InboundHookDelivery"][];
            nextCursor: string | null;
        };
        AskQuestion: {
            /** @description The question, for people */
            prompt: string;
            /** @description The answers to choose from */
            choices?: string[];
            /** @description Whether an answer may be another text; by default without choices only */
            freeText?: boolean;
            /** @description This, or deadlineAt */
            deadlineSeconds?: number;
            /**
             * Format: date-time
             * @description Within 90 days; this, or deadlineSeconds
             */
            deadlineAt?: string;
            /**
             * @description What happens if nobody answers in time: the default is the answer, or the task fails
             * @enum {string}
             */
            onDeadline: "default" | "fail";
            /** @description One of the choices, if there are any */
            default?: string;
            /** @description What the next run needs to go on from here */
            checkpointData?: {
                [key: string]: unknown;
            };
        };
        Question: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            taskId: string;
            taskTitle: string;
            /**
             * Format: uuid
             * @description The run that asked, and ended with it
             */
            runId: string;
            /** Format: uuid */
            agentId: string;
            prompt: string;
            /** @description The answers to choose from; none: any text will do */
            choices: string[];
            /** @description An answer may be another text than a choice */
            freeText: boolean;
            /**
             * @description expired: nobody answered in time; cancelled: its task was ended otherwise
             * @enum {string}
             */
            status: "open" | "answered" | "expired" | "cancelled";
            /** Format: date-time */
            askedAt: string;
            /** Format: date-time */
            deadlineAt: string;
            /**
             * @description What happens if nobody answers in time
             * @enum {string}
             */
            onDeadline: "default" | "fail";
            default: string | null;
            /** @description Secrets in it are hidden; its run gets it whole */
            answer: string | null;
            /** @example user:0198c5a0-4444-7000-8000-000000000001 */
            answeredBy: string | null;
            /** @description Nobody answered, and the default counts */
            byDefault: boolean;
            /** Format: date-time */
            closedAt: string | null;
        };
        QuestionPage: {
            items: components["schemas"]["Question"][];
            nextCursor: string | null;
        };
        AnswerQuestion: {
            /** @description One of the choices, or any text where it may be */
            answer: string;
        };
        StartRun: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            sessionKey?: string;
            branch?: string;
        };
        ReportOutcome: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            taskId: string;
            /**
             * @description The new status of the task
             * @enum {string}
             */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @description The version of the task */
            version: number;
        };
        ReportProgress: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            progressPercent?: number;
            currentStep?: string;
            /** @description The state that a later run needs to go on from here */
            checkpointData?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            estimatedCompletionAt?: string;
        };
        ProgressOutcome: {
            /** Format: uuid */
            taskId: string;
            /** @description 0 to 100 */
            progressPercent: number;
        };
        SaveCheckpoint: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            checkpointData: {
                [key: string]: unknown;
            };
        };
        LogLine: {
            /** @enum {string} */
            level?: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
            /** @description output, when left out */
            event?: string;
            message?: string;
            details?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it happened, by the clock of the agent
             */
            at?: string;
        };
        AddLogs: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            entries: components["schemas"]["LogLine"][];
        };
        AddedLogs: {
            /** @description How many entries were kept */
            accepted: number;
        };
        RenewRun: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            leaseSeconds?: number;
        };
        Renewal: {
            /** Format: date-time */
            leaseExpiresAt: string;
            /** @description How often the lease has been renewed by hand */
            renewals: number;
        };
        UsageReport: {
            /** @description Its own name for the report: the same again is counted once */
            id: string;
            /** @example claude-sonnet-4 */
            model: string;
            /** @example task_execution */
            operation?: string;
            inputTokens: string | number;
            outputTokens: string | number;
            cacheReadTokens?: string | number;
            cacheWriteTokens?: string | number;
            /** @description By the reporter’s own reckoning: kept, and counted nowhere */
            costUsd?: string | number;
        };
        ClaimNext: {
            maxTasks?: number;
        };
        CompleteRun: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            outputResult?: {
                [key: string]: unknown;
            };
            summary?: string;
            /** @description What was used and not reported before */
            usage?: components["schemas"]["UsageReport"][];
            /** @description Claim the next tasks in the same request; with the token of the agent only */
            claimNext?: components["schemas"]["ClaimNext"];
        };
        ClaimedRun: {
            /** Format: uuid */
            id: string;
            /** @description Counts the runs of the task */
            generation: number;
            /** Format: date-time */
            leaseExpiresAt: string;
            /**
             * Format: date-time
             * @description The end of the task's timeoutSeconds; complete it before
             */
            deadlineAt: string | null;
            /**
             * @description What it is to use; null: nobody has chosen one
             * @example claude-sonnet-4-6
             */
            model: string | null;
            /**
             * @description Of the model
             * @enum {string|null}
             */
            modelTier: "haiku" | "sonnet" | "opus" | null;
            /** @description A token for this run alone, to hand to what executes it */
            token: string;
            /**
             * @description Of its span (W3C Trace Context), for what it asks others; null: it is not traced
             * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-bcceb302099a8057-01
             */
            traceparent: string | null;
        };
        TaskAnswer: {
            /** Format: uuid */
            questionId: string;
            prompt: string;
            /** @description Secrets included */
            answer: string;
            /** @example user:0198c5a0-4444-7000-8000-000000000001 */
            answeredBy: string | null;
            /** @description Nobody answered, and this is the default */
            byDefault: boolean;
            /** Format: date-time */
            answeredAt: string;
        };
        ClaimedWork: {
            /** Format: uuid */
            id: string;
            title: string;
            description: string | null;
            /** @example development */
            taskType: string;
            /** @description 1 to 10, 10 first */
            priority: number;
            /** @description As it was given, secrets included */
            inputContext: {
                [key: string]: unknown;
            } | null;
            /** @description The checkpoint of the run before */
            checkpointData: {
                [key: string]: unknown;
            } | null;
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description To its questions, the latest 20, the oldest first */
            answers: components["schemas"]["TaskAnswer"][];
            /** @description Variables for the environment of what executes it: secrets */
            secrets: {
                [key: string]: string;
            } | null;
            timeoutSeconds: number | null;
            retryCount: number;
            maxRetries: number;
            requiredCapabilities: string[];
            tags: string[];
            generation: number;
        };
        ClaimedTask: {
            run: components["schemas"]["ClaimedRun"];
            task: components["schemas"]["ClaimedWork"];
        };
        Completion: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            taskId: string;
            /**
             * @description The new status of the task
             * @enum {string}
             */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @description The version of the task */
            version: number;
            /** @description Where `claimNext` asked for it */
            claimed?: components["schemas"]["ClaimedTask"][];
        };
        RunError: {
            message: string;
            /** @enum {string} */
            class?: "oom" | "timeout" | "exit_code" | "signal" | "infrastructure" | "setup" | "unknown";
            exitCode?: number;
            /** @example SIGKILL */
            signal?: string;
            stackTrace?: string;
            /** @description Whether another attempt could go better; else the class decides */
            retryable?: boolean;
        };
        FailRun: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            error: components["schemas"]["RunError"];
            checkpointData?: {
                [key: string]: unknown;
            };
        };
        ReleaseRun: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            /** @example drain */
            reason?: string;
            checkpointData?: {
                [key: string]: unknown;
            };
        };
        RunCompletion: {
            /** Format: uuid */
            runId: string;
            outputResult?: {
                [key: string]: unknown;
            };
            summary?: string;
            /** @description What was used and not reported before */
            usage?: components["schemas"]["UsageReport"][];
        };
        CompleteRuns: {
            completions: components["schemas"]["RunCompletion"][];
            /** @description Claim the next tasks in the same request */
            claimNext?: components["schemas"]["ClaimNext"];
        };
        CompletionProblem: {
            /** @example urn:drover:error:validation_failed */
            type: string;
            title: string;
            status: number;
            /** @description Stable: programs decide by it. */
            code: components["schemas"]["ErrorCode"];
            detail?: string;
            /** @description The remedy. */
            advice: string;
            errors?: components["schemas"]["ProblemField"][];
        };
        CompletionResult: {
            /** Format: uuid */
            runId: string;
            /** @description Where it was accepted */
            outcome?: components["schemas"]["ReportOutcome"];
            /** @description Why it was not, as a request of its own would have been answered */
            problem?: components["schemas"]["CompletionProblem"];
        };
        CompletionResults: {
            /** @description In the order of the request */
            results: components["schemas"]["CompletionResult"][];
            /** @description Where `claimNext` asked for it */
            claimed?: components["schemas"]["ClaimedTask"][];
        };
        Efficiency: {
            linesChanged: number;
            /**
             * @description 150 a line
             * @example 1000000
             */
            expectedTokens: string;
            /**
             * @description expectedTokens by taskUsedTokens; null when nothing is used
             * @example 0.72
             */
            ratio: number | null;
            /** @description false: a ratio below 0.5; the advice is `warn` then at least */
            isEfficient: boolean;
        };
        BudgetStanding: {
            /** Format: uuid */
            budgetId: string;
            /** @enum {string} */
            scope: "global" | "project" | "milestone" | "task";
            /** Format: uuid */
            scopeId: string;
            /** @example 1000000 */
            allocated: string;
            /** @example 1000000 */
            consumed: string;
            /** @example 1000000 */
            reserved: string;
            /** @example 1000000 */
            available: string;
            percentUsed: number;
            /** @enum {string} */
            policy: "pause" | "finish" | "abort";
        };
        RunBudget: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            taskId: string;
            isLive: boolean;
            /**
             * @description Of its task
             * @example 1000000
             */
            estimatedTokens: string;
            /**
             * @description What it holds of each budget that covered it when it was handed out
             * @example 1000000
             */
            heldTokens: string;
            /** @example 1000000 */
            usedTokens: string;
            /**
             * @description In USD, by the prices of the models
             * @example 0.042
             */
            usedCostUsd: string;
            /**
             * @description By all runs of its task
             * @example 1000000
             */
            taskUsedTokens: string;
            /**
             * @description warn: more than 90 % of a budget is consumed; stop: all of one whose policy is not `finish`
             * @enum {string}
             */
            advice: "continue" | "warn" | "stop";
            /**
             * @description The reason, for people
             * @example No budget covers it: go on.
             */
            message: string;
            efficiency: components["schemas"]["Efficiency"] | null;
            /** @description Those that cover the run now */
            budgets: components["schemas"]["BudgetStanding"][];
        };
        ReportUsage: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            reports: components["schemas"]["UsageReport"][];
        };
        UsageOutcome: {
            /** Format: uuid */
            runId: string;
            /** @description Reports that were counted */
            accepted: number;
            /** @description Reports that were known already */
            repeated: number;
            /**
             * @description warn: more than 90 % of a budget is consumed; stop: all of one whose policy is not `finish`
             * @enum {string}
             */
            advice: "continue" | "warn" | "stop";
            /** @description Those that cover the run now */
            budgets: components["schemas"]["BudgetStanding"][];
        };
        ReportProviderLimit: {
            /**
             * Format: uuid
             * @description The run that reports; a run token implies it
             */
            runId?: string;
            /**
             * @description May be left out for models of Anthropic, OpenAI and Google; where it is not known, the task alone waits
             * @example anthropic
             */
            provider?: string;
            /**
             * @description When left out, the model that the run was given
             * @example claude-sonnet-4-6
             */
            model?: string;
            /** @description All models of the provider are refused, and not this one alone */
            allModels?: boolean;
            /**
             * @description rate_limited, when left out
             * @enum {string}
             */
            kind?: "rate_limited" | "quota_exhausted";
            /** @description As the provider said in Retry-After; 60, where neither this nor until is given */
            retryAfterSeconds?: number;
            /**
             * Format: date-time
             * @description Until when it refuses; at most 7 days count, and one that has passed only releases the run
             */
            until?: string;
            /** @description What the provider said, for the log of the task */
            message?: string;
            /** @description The state that a later run needs to go on from here */
            checkpointData?: {
                [key: string]: unknown;
            };
        };
        ProviderLimitOutcome: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            taskId: string;
            /**
             * @description The new status of the task
             * @enum {string}
             */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @description The version of the task */
            version: number;
            /**
             * Format: uuid
             * @description null: nothing is closed for the report
             */
            limitId: string | null;
            /**
             * Format: date-time
             * @description Until when the provider is left alone
             */
            until: string | null;
        };
        ClaimTasks: {
            /** @description 1 when left out */
            maxTasks?: number;
            /**
             * Format: uuid
             * @description This task and no other, if the agent may take it
             */
            taskId?: string;
            /** @description How long to wait for a task, in ms; 0 when left out */
            waitMs?: number;
            /** @description The lease of the runs; when left out, the agent's heartbeats carry it */
            leaseSeconds?: number;
        };
        Claim: {
            /** @description Empty when there was none in time */
            tasks: components["schemas"]["ClaimedTask"][];
            /**
             * @description Why there is none
             * @enum {string}
             */
            reason?: "nothing_ready" | "agent_full" | "agent_in_error" | "workspace_archived" | "paused" | "throttled" | "provider_limited" | "budget";
        };
        AgentSignalsRequest: {
            /** @description The runs that the agent holds; when left out, all that it holds, those that it claims meanwhile too */
            runIds?: string[];
            waitMs?: number;
        };
        RunSignal: {
            /** Format: uuid */
            runId: string;
            /**
             * @description warn: it seems to hang, and is aborted unless its agent reports progress
             * @enum {string}
             */
            action: "stop" | "pause" | "warn";
            reason: string;
            /** @description Between SIGTERM and SIGKILL */
            graceSeconds: number;
        };
        AgentSignals: {
            /** @description Take no new work, and leave when what you hold is finished */
            drain: boolean;
            /** @description Those of the runs that are not to go on, or seem to hang */
            runs: components["schemas"]["RunSignal"][];
        };
        TerminateAgent: {
            /** @example Manual shutdown */
            reason?: string;
            /** @description Let it finish what it holds; true when left out */
            graceful?: boolean;
        };
        DeregisterAgent: {
            reason?: string;
        };
        TimeRange: {
            /**
             * Format: date-time
             * @description As likely before as after
             */
            p50: string;
            /**
             * Format: date-time
             * @description With nine chances of ten before
             */
            p90: string;
        };
        EstimateSpread: {
            p50: number;
            p90: number;
        };
        RunSlots: {
            /** @description Tasks that the agents which could take it may hold at once */
            all: number;
            /** @description How many more they could hold now */
            free: number;
        };
        EstimateBasis: {
            /** @description The latest completed tasks of its type that were looked at */
            completedTasks: number;
            durationSeconds: components["schemas"]["EstimateSpread"] | null;
            /** @description From ready to assigned */
            waitSeconds: components["schemas"]["EstimateSpread"] | null;
            /** @description Tasks that rank before it */
            ahead: number | null;
            places: components["schemas"]["RunSlots"] | null;
            /** @description Tasks for whose end it waits */
            after: number | null;
        };
        Estimate: {
            /** @description Of one that runs: when it did */
            start: components["schemas"]["TimeRange"] | null;
            end: components["schemas"]["TimeRange"] | null;
            /**
             * @description Why the end is not known; null when it is. `ended`: it does not go on by itself. `paused`: until somebody resumes it or ends the pause. `dependency_failed`: a task that it waits for, directly or not, ended without success. `waiting_for_dependency`: a task that it waits for has no estimate. `too_many_dependencies`: it waits, directly or not, for more tasks than are looked at (100, of which 20 are ready). `no_agent`: no agent that could take it is in service. `spawn_rate`: only push agents could take it, and its workspace may spawn no session at all. `too_far_back`: more than 1,000 ready tasks rank before it. `no_history`: no task of its type has completed. `held_back`: one of its reasons holds it back, and nobody knows until when. `longer_than_any`: it has run longer than any that completed.
             * @enum {string|null}
             */
            unknownBecause: "ended" | "paused" | "held_back" | "dependency_failed" | "waiting_for_dependency" | "too_many_dependencies" | "no_agent" | "spawn_rate" | "too_far_back" | "no_history" | "longer_than_any" | null;
            basis: components["schemas"]["EstimateBasis"];
        };
        Explanation: {
            /** Format: uuid */
            taskId: string;
            /** @enum {string} */
            status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
            /** @description A run holds it now */
            live: boolean;
            reasons: ({
                /** @enum {string} */
                code: "workspace_archived";
                /** @description A sentence for people */
                message: string;
                facts: Record<string, never>;
            } | {
                /** @enum {string} */
                code: "queue_expired";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    queueExpiresAt: string;
                };
            } | {
                /** @enum {string} */
                code: "held_by_pause";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    id: string;
                    /** @enum {string} */
                    scope: "everything" | "workspace" | "task_type";
                    taskType: string | null;
                    reason: string;
                    byName: string | null;
                    /** Format: date-time */
                    since: string;
                    /** Format: date-time */
                    until: string | null;
                    /** @description `user:` or `api_key:` and an id; `operator` for a pause of everything */
                    by: string;
                };
            } | {
                /** @enum {string} */
                code: "throttled";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    projectId: string | null;
                    /** Format: uuid */
                    budgetId: string;
                    maxRuns: number;
                    /** Format: date-time */
                    since: string;
                };
            } | {
                /** @enum {string} */
                code: "provider_limited";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    limitId: string;
                    provider: string;
                    model: string | null;
                    /** @enum {string} */
                    kind: "rate_limited" | "quota_exhausted";
                    /**
                     * Format: date-time
                     * @description When this task goes on: each a little after the limit, at a time of its own
                     */
                    until: string;
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_dependency";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    taskId: string;
                    title: string;
                    /** @enum {string} */
                    status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /** @enum {string} */
                    policy: "block" | "fail" | "ignore";
                };
            } | {
                /** @enum {string} */
                code: "budget";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    budgetId: string;
                    /** @enum {string} */
                    scope: "global" | "project" | "milestone" | "task";
                    /** Format: uuid */
                    scopeId: string;
                    /** Format: date-time */
                    periodEnd: string;
                    /** @description A 64-bit number */
                    allocated: string;
                    /** @description A 64-bit number */
                    consumed: string;
                    /** @description A 64-bit number */
                    reserved: string;
                    /** @description A 64-bit number */
                    available: string;
                    /** @description A 64-bit number */
                    needed: string;
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_more_dependencies";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                };
            } | {
                /** @enum {string} */
                code: "dependency_failed";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    taskId: string;
                    title: string;
                    /** @enum {string} */
                    status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /** @enum {string} */
                    policy: "block" | "fail" | "ignore";
                };
            } | {
                /** @enum {string} */
                code: "waiting_further_up";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    taskId: string;
                    title: string;
                    /** @enum {string} */
                    status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                };
            } | {
                /** @enum {string} */
                code: "paused";
                /** @description A sentence for people */
                message: string;
                facts: {
                    by: string;
                    byName: string | null;
                    reason: string | null;
                    /** Format: date-time */
                    since: string | null;
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_answer";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    questionId: string;
                    prompt: string;
                    choices: string[];
                    /** Format: date-time */
                    deadlineAt: string;
                    /** @enum {string} */
                    onDeadline: "default" | "fail";
                    default: string | null;
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_retry";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    retryAt: string | null;
                    due: boolean;
                    retryCount: number;
                    maxRetries: number;
                    abortReason: string | null;
                };
            } | {
                /** @enum {string} */
                code: "no_capable_agent";
                /** @description A sentence for people */
                message: string;
                facts: {
                    requiredCapabilities: string[];
                    missingCapabilities: string[];
                    /** @description The agents that lack least, and what */
                    nearest: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        missing: string[];
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_reserved";
                /** @description A sentence for people */
                message: string;
                facts: {
                    taskType: string;
                    requiredCapabilities: string[];
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        dedicatedTo: string[];
                        taskTypes: string[];
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_in_error";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_offline";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_draining";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_disabled";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_without_command";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_resting";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_provider_limited";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "agents_full";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_claim";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "waiting_for_assignment";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    /** @description Some of them */
                    agents: {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        liveRuns: number;
                        maxConcurrentTasks: number;
                        /** Format: date-time */
                        lastSeenAt: string | null;
                        /** Format: date-time */
                        restingUntil: string | null;
                        /** Format: date-time */
                        limitedUntil: string | null;
                    }[];
                };
            } | {
                /** @enum {string} */
                code: "gateway_unreachable";
                /** @description A sentence for people */
                message: string;
                facts: {
                    configured: boolean;
                    /** Format: date-time */
                    lastSeenAt: string | null;
                    resting: boolean;
                };
            } | {
                /** @enum {string} */
                code: "gateway_draining";
                /** @description A sentence for people */
                message: string;
                facts: {
                    gateways: number;
                };
            } | {
                /** @enum {string} */
                code: "gateway_full";
                /** @description A sentence for people */
                message: string;
                facts: {
                    gateways: number;
                };
            } | {
                /** @enum {string} */
                code: "spawn_rate_reached";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** @enum {string} */
                    scope: "installation" | "workspace";
                    perMinute: number;
                    /** Format: date-time */
                    nextAt: string | null;
                };
            } | {
                /** @enum {string} */
                code: "queued_behind";
                /** @description A sentence for people */
                message: string;
                facts: {
                    count: number;
                    isMore: boolean;
                };
            } | {
                /** @enum {string} */
                code: "session_being_spawned";
                /** @description A sentence for people */
                message: string;
                facts: {
                    attempts: number;
                    lastError: string | null;
                    /** Format: date-time */
                    since: string;
                    /** Format: date-time */
                    nextAttemptAt: string;
                };
            } | {
                /** @enum {string} */
                code: "held_by_run";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: uuid */
                    runId: string;
                    /** Format: uuid */
                    agentId: string;
                    agentName: string;
                    /** @enum {string} */
                    state: "ASSIGNED" | "WORKING" | "IN_REVIEW" | "APPROVED" | "STALE" | "COMPLETED" | "FAILED" | "RELEASED";
                    generation: number;
                    /** Format: date-time */
                    leaseExpiresAt: string;
                    leaseExpired: boolean;
                    /** Format: date-time */
                    pauseRequestedAt: string | null;
                };
            } | {
                /** @enum {string} */
                code: "completed";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    at: string | null;
                    reason: string | null;
                    error: string | null;
                    /** Format: uuid */
                    runId: string | null;
                    /** Format: uuid */
                    agentId: string | null;
                    agentName: string | null;
                    exitCode: number | null;
                };
            } | {
                /** @enum {string} */
                code: "failed";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    at: string | null;
                    reason: string | null;
                    error: string | null;
                    /** Format: uuid */
                    runId: string | null;
                    /** Format: uuid */
                    agentId: string | null;
                    agentName: string | null;
                    exitCode: number | null;
                };
            } | {
                /** @enum {string} */
                code: "aborted";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    at: string | null;
                    reason: string | null;
                    error: string | null;
                    /** Format: uuid */
                    runId: string | null;
                    /** Format: uuid */
                    agentId: string | null;
                    agentName: string | null;
                    exitCode: number | null;
                };
            } | {
                /** @enum {string} */
                code: "archived";
                /** @description A sentence for people */
                message: string;
                facts: {
                    /** Format: date-time */
                    at: string | null;
                    reason: string | null;
                    error: string | null;
                    /** Format: uuid */
                    runId: string | null;
                    /** Format: uuid */
                    agentId: string | null;
                    agentName: string | null;
                    exitCode: number | null;
                };
            })[];
            /** @description The future is simulated 101 times; `start` and `end` are the 50th and the 90th percentile. In each simulation, with D drawn from the durations of the latest 200 completed tasks of a type in this workspace, and W from their waits: a task that runs ends after D, given that D is longer than it has run; one in the queue starts when a place is free for it and all that rank before it, each of which takes the place that is free first for a D of its own type, + min(W, 5 s), and ends D later; one that joins the queue later starts W after the latest of its retry, the ends of the pauses that hold it and the ends, in the same simulation, of the tasks it waits for, and ends D later. Who overtakes it, agents that come or go, and attempts that fail are not foreseen. */
            estimate: components["schemas"]["Estimate"];
            /** Format: date-time */
            at: string;
        };
        CoordinatorStats: {
            pendingTasks: number;
            runningTasks: number;
            /** @description Agents that were heard within their threshold, or are not missed. */
            healthyAgents: number;
            /** @description Agents in ERROR, or unresponsive beyond their threshold. */
            staleAgents: number;
        };
        QueueCounts: {
            /** @description PENDING, and an agent may take them. */
            ready: number;
            /** @description PENDING, and waiting for other tasks. */
            blocked: number;
            /** @description ABORTED, with a time of retry. */
            retrying: number;
            assigned: number;
            paused: number;
        };
        CycleStep: {
            /** @enum {string} */
            step: "expire_leases" | "reap_stale_agents" | "recover_lost_runs" | "close_workspaces" | "watch_liveness" | "recover_orphans" | "reconcile_states" | "promote_retries" | "expire_questions" | "fail_cycles" | "settle_dependents" | "time_out_runs" | "warn_hung" | "time_out_hung" | "detect_split_brain" | "expire_queued" | "terminate_drained" | "enforce_budgets" | "heed_provider_limits" | "clear_pauses" | "tell_budget_alerts" | "throttle_workspaces" | "assign";
            /** @description Rows moved, of the workspaces that you see. */
            moved: number;
            durationMs: number;
            /** @description The code of its failure. */
            error: string | null;
        };
        CoordinatorCycle: {
            /** Format: date-time */
            startedAt: string;
            durationMs: number;
            steps: components["schemas"]["CycleStep"][];
        };
        CoordinatorStatus: {
            /** @description Whether somebody leads now. */
            active: boolean;
            /** @example coord-abc123 */
            instanceId: string | null;
            /** @description The workspaces that you see: yours, or all. */
            workspaces: string[];
            /** Format: date-time */
            lastHeartbeat: string | null;
            stats: components["schemas"]["CoordinatorStats"];
            queue: components["schemas"]["QueueCounts"];
            /** @description A 64-bit number that rises with each change of leader. */
            epoch: string;
            cycleCount: number;
            lastCycle: components["schemas"]["CoordinatorCycle"] | null;
        };
        RecoveryRequest: {
            /**
             * Format: uuid
             * @description The workspace to sweep; all that you may see if left out: for members, their own.
             */
            workspaceId?: string;
            /** @description All workspaces, whatever X-Workspace-Id names; for operators of the installation only. */
            allWorkspaces?: boolean;
        };
        Recovery: {
            /** Format: uuid */
            workspaceId: string | null;
            /** @description The sum of the counts. */
            recovered: number;
            counts?: {
                expiredClaimsReleased: number;
                deadWorkersFound: number;
                lostRunsRecovered: number;
                archivedRunsEnded: number;
                livenessChanges: number;
                orphanedTasksRecovered: number;
                staleStatesFixed: number;
                retriesPromoted: number;
                questionsExpired: number;
                cyclesFailed: number;
                prerequisitesSettled: number;
                timedOutRuns: number;
                hungWarned: number;
                hungAborted: number;
                conflictsFound: number;
                queuedExpired: number;
                drainedAgentsTerminated: number;
                budgetsEnforced: number;
                providerLimitsHeeded: number;
                tasksParkedOrFreed: number;
                budgetAlerts: number;
                throttlesChanged: number;
                tasksAssigned: number;
            };
            durationMs: number;
            /** @description The other steps ran. */
            failedSteps: ("expire_leases" | "reap_stale_agents" | "recover_lost_runs" | "close_workspaces" | "watch_liveness" | "recover_orphans" | "reconcile_states" | "promote_retries" | "expire_questions" | "fail_cycles" | "settle_dependents" | "time_out_runs" | "warn_hung" | "time_out_hung" | "detect_split_brain" | "expire_queued" | "terminate_drained" | "enforce_budgets" | "heed_provider_limits" | "clear_pauses" | "tell_budget_alerts" | "throttle_workspaces" | "assign")[];
        };
        CoordinatorLogEntry: {
            /** @description A 64-bit number. */
            id: string;
            /** Format: uuid */
            workspaceId: string | null;
            instanceId: string;
            /** @enum {string} */
            level: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
            /** @example agent_stale */
            event: string;
            message: string | null;
            details: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            createdAt: string;
        };
        CoordinatorLogPage: {
            items: components["schemas"]["CoordinatorLogEntry"][];
            nextCursor: string | null;
        };
        StreamTicket: {
            /** @description For `?ticket=` of a stream. */
            ticket: string;
            /**
             * Format: date-time
             * @description Streams can be opened with it until then.
             */
            expiresAt: string;
            expiresInSeconds: number;
        };
        Liveness: {
            /** @enum {string} */
            status: "alive";
        };
        Readiness: {
            /** @enum {string} */
            status: "ready";
            /** @enum {string} */
            database: "connected" | "disconnected" | "refusing_changes" | "not_configured";
            /** @enum {string} */
            valkey: "connected" | "disconnected" | "refusing_changes" | "not_configured";
        };
        CoordinatorHealth: {
            /** @description Whether somebody leads now. */
            active: boolean;
            /** Format: date-time */
            lastCycle: string | null;
            cycleCount: number;
        };
        SystemHealth: {
            /** @enum {string} */
            status: "healthy" | "degraded" | "unhealthy";
            coordinator: components["schemas"]["CoordinatorHealth"];
            /** @enum {string} */
            database: "connected" | "disconnected" | "refusing_changes" | "not_configured";
            /** @enum {string} */
            valkey: "connected" | "disconnected" | "refusing_changes" | "not_configured";
            /** @enum {string} */
            gateway: "reachable" | "unreachable" | "unknown" | "not_configured";
            /** @description What goes on now and will not for long, such as API keys in use that end within 14 days. */
            warnings?: string[];
        };
        UsageSums: {
            /** @description A day, an id, or the name of a model; null: of no project */
            key: string | null;
            /** @description Of the agent or project, or the title of the task; null of days and models */
            name: string | null;
            /**
             * Format: int64
             * @example 1234567
             */
            inputTokens: string;
            /**
             * Format: int64
             * @example 1234567
             */
            outputTokens: string;
            /**
             * Format: int64
             * @example 1234567
             */
            cacheReadTokens: string;
            /**
             * Format: int64
             * @example 1234567
             */
            cacheWriteTokens: string;
            /**
             * Format: int64
             * @description The four of them together
             * @example 1234567
             */
            totalTokens: string;
            /**
             * @description In USD, of the reports that have a price; null: none of them has
             * @example 12.34
             */
            costUsd: string | null;
            reports: number;
            /** @description Of models that had no price then */
            reportsWithoutPrice: number;
        };
        UsagePage: {
            items: components["schemas"]["UsageSums"][];
            nextCursor: string | null;
        };
        EstimateFigures: {
            /** @description Tasks that have completed */
            tasks: number;
            /** @description Of these, tasks whose runs reported no usage; the other numbers are without them */
            unreported: number;
            /**
             * @description What they were expected to use
             * @example 8970
             */
            estimatedTokens: string;
            /**
             * @description What all of their runs used
             * @example 8970
             */
            usedTokens: string;
            /**
             * @description The median of used / estimated
             * @example 1.04
             */
            medianRatio: number | null;
            /**
             * @description The share of tasks whose usage differs from the estimate by 20 % of it at most; 0 to 1
             * @example 0.72
             */
            within20Percent: number | null;
        };
        KindEstimates: {
            /** @description Tasks that have completed */
            tasks: number;
            /** @description Of these, tasks whose runs reported no usage; the other numbers are without them */
            unreported: number;
            /**
             * @description What they were expected to use
             * @example 8970
             */
            estimatedTokens: string;
            /**
             * @description What all of their runs used
             * @example 8970
             */
            usedTokens: string;
            /**
             * @description The median of used / estimated
             * @example 1.04
             */
            medianRatio: number | null;
            /**
             * @description The share of tasks whose usage differs from the estimate by 20 % of it at most; 0 to 1
             * @example 0.72
             */
            within20Percent: number | null;
            /** @example development */
            taskType: string;
            /** Format: uuid */
            projectId: string | null;
        };
        EstimateReport: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            total: components["schemas"]["EstimateFigures"];
            /** @description By type and project: the 500 with most tasks, these first */
            items: components["schemas"]["KindEstimates"][];
            /** @description There are more than these */
            more: boolean;
        };
        UsageCost: {
            /**
             * Format: uuid
             * @description null for a project, as its title, type and time are
             */
            taskId: string | null;
            title: string | null;
            taskType: string | null;
            /** Format: date-time */
            completedAt: string | null;
            /**
             * Format: uuid
             * @description null for what belongs to none
             */
            projectId: string | null;
            projectName: string | null;
            /** @description Completed tasks */
            tasks: number;
            /** @description Their runs, failed ones among them */
            runs: number;
            /**
             * @description What all of these runs used
             * @example 8970
             */
            usedTokens: string;
            /**
             * @description In USD, by the prices of the models
             * @example 0.042
             */
            costUsd: string;
        };
        UsageCostPage: {
            items: components["schemas"]["UsageCost"][];
            nextCursor: string | null;
        };
        ModelPrice: {
            /** @example claude-sonnet-4 */
            model: string;
            /**
             * @description haiku: the cheapest, for simple work; sonnet: for most; opus: the dearest
             * @enum {string}
             */
            tier: "haiku" | "sonnet" | "opus";
            /**
             * Format: date-time
             * @description It holds until the next one of the model
             */
            effectiveFrom: string;
            /**
             * @description In USD per million tokens
             * @example 3
             */
            inputUsd: string;
            /**
             * @description In USD per million tokens
             * @example 15
             */
            outputUsd: string;
            /**
             * @description In USD per million tokens
             * @example 0.3
             */
            cacheReadUsd: string;
            /**
             * @description In USD per million tokens
             * @example 3.75
             */
            cacheWriteUsd: string;
            /**
             * @description null: it came with the installation
             * @example user:0190…
             */
            createdBy: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        ModelPricePage: {
            items: components["schemas"]["ModelPrice"][];
            nextCursor: string | null;
        };
        CreateModelPrice: {
            /** @example claude-sonnet-4 */
            model: string;
            /**
             * @description haiku: the cheapest, for simple work; sonnet: for most; opus: the dearest
             * @enum {string}
             */
            tier: "haiku" | "sonnet" | "opus";
            /**
             * Format: date-time
             * @description When it begins to hold: now, or later
             */
            effectiveFrom?: string;
            /**
             * @description In USD per million tokens
             * @example 3
             */
            inputUsd: string;
            /**
             * @description In USD per million tokens
             * @example 15
             */
            outputUsd: string;
            /**
             * @description In USD per million tokens
             * @example 0.3
             */
            cacheReadUsd: string;
            /**
             * @description In USD per million tokens
             * @example 3.75
             */
            cacheWriteUsd: string;
        };
        RoutingRule: {
            taskType?: string;
            minPriority?: number;
            minComplexity?: number;
            /** @example 120000 */
            maxEstimatedTokens?: string;
            /** Format: uuid */
            projectId?: string;
            /** @enum {string} */
            tier?: "haiku" | "sonnet" | "opus";
            model?: string;
        };
        TierModels: {
            /** @example claude-haiku-4-5 */
            haiku: string;
            /** @example claude-sonnet-4-6 */
            sonnet: string;
            /** @example claude-opus-4-6 */
            opus: string;
        };
        ModelRouting: {
            enabled: boolean;
            rules: components["schemas"]["RoutingRule"][];
            /** @description The model of each tier */
            tiers: components["schemas"]["TierModels"];
            /** @description 0 until somebody has set it */
            version: number;
        };
        RoutingRuleRequest: {
            /**
             * @description Only tasks of this type
             * @example review
             */
            taskType?: string;
            /** @description Only tasks of at least this priority */
            minPriority?: number;
            /** @description Only tasks of at least this estimatedComplexity */
            minComplexity?: number;
            /** @description Only tasks of which no more is expected */
            maxEstimatedTokens?: string | number;
            /**
             * Format: uuid
             * @description Only tasks of this project
             */
            projectId?: string;
            /**
             * @description They get the model of this tier
             * @enum {string}
             */
            tier?: "haiku" | "sonnet" | "opus";
            /**
             * @description They get this model; instead of a tier
             * @example claude-sonnet-4-6
             */
            model?: string;
        };
        TierModelsRequest: {
            /** @example claude-sonnet-4-6 */
            haiku?: string;
            /** @example claude-sonnet-4-6 */
            sonnet?: string;
            /** @example claude-sonnet-4-6 */
            opus?: string;
        };
        SetModelRouting: {
            /** @description Whether runs are given models */
            enabled: boolean;
            /** @description The first that holds for a task counts, and before the server's own */
            rules: components["schemas"]["RoutingRuleRequest"][];
            /** @description The models of the tiers; the server's for those left out */
            tiers: components["schemas"]["TierModelsRequest"];
        };
        ModelChoice: {
            /** @example claude-sonnet-4-6 */
            model: string;
            /**
             * @description null: the model has no price
             * @enum {string|null}
             */
            tier: "haiku" | "sonnet" | "opus" | null;
            /**
             * @description own: one of the workspace's rules; the others are the server's
             * @enum {string}
             */
            rule: "critical" | "complex" | "boilerplate" | "small" | "default" | "own";
            /** @description Which of the rules it was, from 0 on */
            index?: number;
            /** @description Whether runs are given models at all */
            enabled: boolean;
        };
        ModelSavings: {
            /** @example claude-haiku-4-5 */
            model: string;
            /** @example 120000 */
            tokens: string;
            /**
             * @description In USD
             * @example 1.26
             */
            actualUsd: string;
            /**
             * @description Of the dearest tier's model
             * @example 6.3
             */
            dearestUsd: string;
            /**
             * @description Below zero: it cost more
             * @example 5.04
             */
            savedUsd: string;
            /** @example 80 */
            savedPercent: number | null;
        };
        RoutingSavings: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /**
             * @description The model of the tier opus
             * @example claude-opus-4-6
             */
            dearestModel: string;
            /**
             * @description Those that are compared
             * @example 120000
             */
            tokens: string;
            /**
             * @description Those that are not: the model, or the dearest one, had no price
             * @example 120000
             */
            unpricedTokens: string;
            /**
             * @description In USD
             * @example 1.26
             */
            actualUsd: string;
            /**
             * @description Had the dearest model used the same tokens
             * @example 6.3
             */
            dearestUsd: string;
            /**
             * @description Below zero: it cost more
             * @example 5.04
             */
            savedUsd: string;
            /**
             * @description Of dearestUsd, with one decimal; null while that is 0
             * @example 80
             */
            savedPercent: number | null;
            /** @description The most saved first */
            models: components["schemas"]["ModelSavings"][];
        };
        LimitReporter: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            agentId: string;
            agentName: string;
            /** Format: date-time */
            at: string;
        };
        ProviderLimit: {
            /** Format: uuid */
            id: string;
            /** @example anthropic */
            provider: string;
            /** @description null: all of its models */
            model: string | null;
            /** @enum {string} */
            kind: "rate_limited" | "quota_exhausted";
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            /** @description The run that told of it last */
            reportedBy: components["schemas"]["LimitReporter"];
        };
        ProviderLimitList: {
            items: components["schemas"]["ProviderLimit"][];
        };
        CreateBudget: {
            /** @enum {string} */
            scope: "global" | "project" | "milestone" | "task";
            /**
             * Format: uuid
             * @description The project, milestone or task; may be left out with the scope global
             */
            scopeId?: string;
            /** @description Tokens that may be used in the period */
            allocated: string | number;
            /** Format: date-time */
            periodStart: string;
            /**
             * Format: date-time
             * @description The first moment that is no longer in it
             */
            periodEnd: string;
            /**
             * @description What happens to running tasks when it is used up: they are paused, may finish, or are cancelled; `pause` when left out
             * @enum {string}
             */
            policy?: "pause" | "finish" | "abort";
        };
        Budget: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            scope: "global" | "project" | "milestone" | "task";
            /**
             * Format: uuid
             * @description With the scope global, the workspace
             */
            scopeId: string;
            /**
             * @description The name of the project or milestone, or the title of the task; null with the scope global
             * @example Invoices
             */
            scopeName: string | null;
            /** @example 1000000 */
            allocated: string;
            /**
             * @description Held by live runs
             * @example 1000000
             */
            reserved: string;
            /**
             * @description Used in the period
             * @example 1000000
             */
            consumed: string;
            /**
             * @description allocated - consumed; below 0 when more was used
             * @example 1000000
             */
            remaining: string;
            /**
             * @description allocated - consumed - reserved
             * @example 1000000
             */
            available: string;
            /** @description consumed of allocated, rounded down */
            percentUsed: number;
            /** Format: date-time */
            periodStart: string;
            /** Format: date-time */
            periodEnd: string;
            /** @enum {string} */
            policy: "pause" | "finish" | "abort";
            /** @description Its period is now */
            isActive: boolean;
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        BudgetPage: {
            items: components["schemas"]["Budget"][];
            nextCursor: string | null;
        };
        ChangeBudget: {
            allocated?: string | number;
            /** Format: date-time */
            periodStart?: string;
            /** Format: date-time */
            periodEnd?: string;
            /** @enum {string} */
            policy?: "pause" | "finish" | "abort";
        };
        ReallocateBudget: {
            /**
             * Format: uuid
             * @description The budget that gets the tokens
             */
            to: string;
            amount: string | number;
        };
        Reallocation: {
            from: components["schemas"]["Budget"];
            to: components["schemas"]["Budget"];
        };
        BudgetAlert: {
            /** Format: date-time */
            at: string;
            /**
             * @description critical: it is used up
             * @enum {string}
             */
            level: "warning" | "critical";
            /**
             * @description The step that was reached, in percent
             * @enum {number}
             */
            threshold: 50 | 75 | 90 | 100;
            /** @description consumed of allocated then, rounded down */
            percentUsed: number;
            /**
             * @description Tokens of the budget then
             * @example 750000
             */
            allocated: string;
            /**
             * @description Tokens used then
             * @example 750000
             */
            consumed: string;
            /** @example 75 % of the budget of the project is used */
            message: string;
        };
        BudgetAlertPage: {
            items: components["schemas"]["BudgetAlert"][];
            nextCursor: string | null;
        };
        BurnRates: {
            /**
             * @description 24 times what was used in the last hour
             * @example 125000
             */
            lastHour: string;
            /**
             * @description What was used in the last 24 hours
             * @example 125000
             */
            lastDay: string;
            /**
             * @description The mean since the period began
             * @example 125000
             */
            period: string;
            /**
             * @description A weighted mean of the last 48 hours: each counts half as much as the one six hours later
             * @example 125000
             */
            ewma: string;
        };
        Throttle: {
            /** @description Runs that may go on at once */
            maxRuns: number;
            /** Format: date-time */
            since: string;
        };
        Projection: {
            /** Format: uuid */
            budgetId: string;
            /**
             * @description Not used
             * @example 125000
             */
            remainingTokens: string;
            /**
             * @description Neither used nor held by runs
             * @example 125000
             */
            availableTokens: string;
            /**
             * @description Tokens a day: those of the last 24 hours
             * @example 125000
             */
            dailyBurnRate: string;
            /** @description Tokens a day */
            burnRates: components["schemas"]["BurnRates"];
            /**
             * @description At dailyBurnRate; null: nothing was used
             * @example 6.5
             */
            daysUntilExhaustion: number | null;
            /**
             * @description At the fastest of burnRates; null: never
             * @example 6.5
             */
            earliestDaysUntilExhaustion: number | null;
            /**
             * @description At the slowest of burnRates; null: never
             * @example 6.5
             */
            latestDaysUntilExhaustion: number | null;
            /**
             * Format: date-time
             * @description After daysUntilExhaustion; null: never, or not in a hundred years
             */
            projectedExhaustionDate: string | null;
            /** Format: date-time */
            periodEnd: string;
            /** @description Whether it lasts until periodEnd at dailyBurnRate */
            willLastPeriod: boolean;
            /**
             * @description PAUSE: nothing is available, or exhausted within an hour at the fastest rate. THROTTLE: exhausted within 7 days. CONTINUE: otherwise, and when the period ends before
             * @enum {string}
             */
            recommendation: "CONTINUE" | "THROTTLE" | "PAUSE";
            /** @description The limit that the coordinator has set by it; null: none */
            throttle: components["schemas"]["Throttle"] | null;
            /**
             * Format: date-time
             * @description When this was so
             */
            at: string;
        };
        HeldSession: {
            /** Format: uuid */
            runId: string;
            sessionKey: string;
            /** @enum {string} */
            status: "QUEUED" | "STARTING" | "RUNNING";
        };
        GatewayHeartbeatRequest: {
            /** @description As its token says it */
            gatewayId: string;
            /**
             * Format: uuid
             * @description New at each start of the gateway
             */
            bootId: string;
            /** Format: date-time */
            startedAt: string;
            /** @description Which heartbeat of this life it is, growing: one that comes late changes nothing */
            sequence: number;
            version?: string;
            /** @description Sessions that it can run at once */
            capacity: number;
            running: number;
            queued: number;
            /** @description It takes no new sessions */
            draining?: boolean;
            /** @description All its live sessions that are of runs, those of an earlier life included */
            sessions: components["schemas"]["HeldSession"][];
            /** @description Runs whose sessions have ended, and whose reports are still to come */
            ended?: string[];
        };
        SessionStop: {
            /** Format: uuid */
            runId: string;
            reason: string;
            /** @description Seconds between TERM and KILL */
            graceSeconds: number;
        };
        GatewayHeartbeatAnswer: {
            /** Format: date-time */
            acknowledgedAt: string;
            /** @description Whether it was known in an earlier life */
            restarted: boolean;
            /** @description Sessions whose runs are not live any more */
            stop: components["schemas"]["SessionStop"][];
        };
        SessionError: {
            /** @enum {string} */
            class: "oom" | "timeout" | "exit_code" | "signal" | "infrastructure" | "setup" | "resource_exhausted" | "drained" | "paused" | "unknown";
            message: string;
        };
        SessionReport: {
            /** Format: uuid */
            runId: string;
            sessionKey: string;
            /** @enum {string} */
            event: "started" | "exited" | "failed";
            /** Format: date-time */
            at: string;
            pid?: number | null;
            exitCode?: number | null;
            signal?: string | null;
            oomKilled?: boolean;
            error?: components["schemas"]["SessionError"] | null;
            /** @description The last of what the session wrote */
            output?: string;
        };
        ReportSessions: {
            /** @description As its token says it */
            gatewayId: string;
            /** Format: uuid */
            bootId: string;
            reports: components["schemas"]["SessionReport"][];
        };
        SessionReportResult: {
            /** Format: uuid */
            runId: string;
            /** @description false: the run has ended without it */
            applied: boolean;
            /** @description Why not */
            reason?: string;
        };
        SessionReportResults: {
            results: components["schemas"]["SessionReportResult"][];
        };
        GatewaySignalsRequest: {
            /** @description As its token says it */
            gatewayId: string;
            /** @description Runs whose sessions it holds */
            runIds: string[];
            /** @description How long to wait for signals, in ms */
            waitMs?: number;
        };
        GatewaySignal: {
            /** Format: uuid */
            runId: string;
            reason: string;
            /** @description Seconds between TERM and KILL */
            graceSeconds: number;
            /**
             * @description `warn`: the session goes on
             * @enum {string}
             */
            action: "stop" | "pause" | "warn";
        };
        GatewaySignals: {
            runs: components["schemas"]["GatewaySignal"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPair"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    refreshTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshTokens"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPair"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUp"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCaller: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Caller"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePassword"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUser"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewUser"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeUser"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resetUserPassword: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewPassword"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspacePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWorkspace"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renameWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
            };
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenameWorkspace"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archiveWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
            };
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddMember"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                userId: string;
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeMemberRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
            };
            path: {
                userId: string;
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeMember"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvitation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listOwnInvitations: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnInvitationPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedInvitation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    declineInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAgentTokens: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Those that this user has issued. */
                issuedBy?: string;
                /** @description Those of this agent. */
                agentId?: string;
            };
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentTokenPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Those of this user or API key */
                actorId?: string;
                /** @description Those of this operation, by its `operationId` in this document */
                operation?: string;
                /** @description Those of this moment and later */
                from?: string;
                /** @description Those before this moment */
                to?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Only archived ones, or only others. Default: all. */
                archived?: boolean;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateProject"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeProject"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archiveProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMilestones: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Only archived ones, or only others. Default: all. */
                archived?: boolean;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MilestonePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMilestone"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Milestone"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Milestone"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeMilestone"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Milestone"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archiveMilestone: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Milestone"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeWebhook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                state?: "pending" | "delivered" | "dead";
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendTestWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replayWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayDeliveries"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayedDeliveries"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPauses: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Those that have ended, too */
                ended?: boolean;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PausePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createPause: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePause"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pause"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endPause: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedPause"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLimits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: unknown;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limits"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    setLimits: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
            };
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetLimits"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Limits"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description One of these: repeated, or with commas. */
                status?: ("STARTING" | "IDLE" | "WORKING" | "DRAINING" | "ERROR" | "TERMINATED")[];
                mode?: "pull" | "push";
                /** @description All of these: repeated, or with commas. */
                capability?: string[];
                coordinatorEnabled?: boolean;
                /** @description Somewhere in the name, in upper or lower case. */
                name?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    registerAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterAgent"];
            };
        };
        responses: {
            /** @description The agent was there already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAgentHealth: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentHealth"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listHeartbeats: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description At this time or later. */
                from?: string;
                /** @description Before this time. */
                to?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    issueAgentToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IssueAgentToken"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewAgentToken"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeAgentTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendHeartbeat: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatAnswer"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description One of these: repeated, or with commas. */
                status?: ("PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED")[];
                priority?: number;
                /** @description At least; `priority>=8` is the same. */
                priorityGte?: number;
                /** @description At most; `priority<=3` is the same. */
                priorityLte?: number;
                /** @description All of these: repeated, or with commas. */
                tags?: string[];
                /** @description The agent of the live run, or of the last one. */
                agentId?: string;
                /** @description The task whose run has created it. */
                parentTaskId?: string;
                /** @description Those that wait for an answer to their question, or do not */
                waitsForAnswer?: boolean;
                projectId?: string;
                milestoneId?: string;
                taskType?: string;
                /** @description Somewhere in the title or the description, in upper or lower case. */
                text?: string;
                /** @description At this time or later. */
                createdAfter?: string;
                /** @description Before this time. */
                createdBefore?: string;
                /** @description At this time or later. */
                updatedAfter?: string;
                /** @description Before this time. */
                updatedBefore?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTask"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTasks"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResult"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelTask"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archiveTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getThroughput: {
        parameters: {
            query?: {
                /** @description How far back; 60 unless given */
                minutes?: number;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Throughput"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskCounts: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskCounts"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTask"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskRuns: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskLogs: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description This level and those above it. */
                level?: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
                event?: string;
                /** @description desc, the newest first, when left out. */
                order?: "desc" | "asc";
                /** @description true: the oldest first, up to two seconds ago, and `nextCursor` is good for what comes after. */
                follow?: "true" | "false";
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLogPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addTaskLogs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddLogs"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedLogs"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskDependencies: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencies"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replaceTaskDependencies: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplaceDependencies"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencies"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addTaskDependencies: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddDependencies"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencies"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskGraph: {
        parameters: {
            query?: {
                /** @description How many tasks are shown on each side at most, the task among them; 100 unless given */
                limit?: number;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskGraph"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeTaskDependency: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
                dependsOnId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencies"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    assignTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssignTask"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInboundHooks: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundHookPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createInboundHook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInboundHook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInboundHook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getInboundHook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundHook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeInboundHook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeInboundHook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeInboundHook"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundHook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateInboundHookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInboundHook"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInboundHookDeliveries: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundHookDeliveryPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendEventToHook: {
        parameters: {
            query?: never;
            header?: {
                "webhook-id"?: string;
                "webhook-timestamp"?: string;
                "webhook-signature"?: string;
                "x-github-delivery"?: string;
                "x-github-event"?: string;
                "x-hub-signature-256"?: string;
                "x-gitlab-event"?: string;
                "x-gitlab-event-uuid"?: string;
                "x-gitlab-token"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboundHookDelivery"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    askQuestion: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskQuestion"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listQuestions: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                status?: "open" | "answered" | "expired" | "cancelled";
                /** @description Those of this task */
                taskId?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getQuestion: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    answerQuestion: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerQuestion"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportTaskProgress: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportProgress"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    saveTaskCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveCheckpoint"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Renewal"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    completeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completion"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    failTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    releaseTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    completeRuns: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRuns"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompletionResults"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportRunProgress: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportProgress"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    saveRunCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveCheckpoint"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addRunLogs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddLogs"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedLogs"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenewRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Renewal"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    completeRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completion"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    failRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    releaseRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunBudget: {
        parameters: {
            query?: {
                /** @description The lines that the commit changes: then `efficiency` judges what they took */
                linesChanged?: number;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunBudget"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportRunUsage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportUsage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportTaskUsage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportUsage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportRunProviderLimit: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportProviderLimit"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderLimitOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportTaskProviderLimit: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportProviderLimit"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderLimitOutcome"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeRunToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    claimTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimTasks"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Claim"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAgentSignals: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentSignalsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentSignals"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAgentTasks: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                status?: ("PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED")[];
                /** @description true: only what it holds now */
                live?: "true" | "false";
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    terminateAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TerminateAgent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deregisterAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeregisterAgent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    explainTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCoordinatorStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CoordinatorStatus"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    runRecovery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoveryRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCoordinatorLogs: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description Only of this workspace. */
                workspace?: string;
                /** @description This level and those above it. */
                level?: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CoordinatorLogPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description Resume behind this id, as the header Last-Event-ID does, which counts when both are there. */
                lastEventId?: string;
                /** @description Instead of a token, for browsers: of `POST /events/tickets`. */
                ticket?: string;
                /** @description Events of these names; `task.*`, or `task`, is all of `task.…`. Repeated, or with commas. */
                types?: ("*" | "task" | "task.*" | "task.created" | "task.status_changed" | "task.updated" | "task.progress" | "task.dependency_cycle" | "run" | "run.*" | "run.state_changed" | "run.hung_warning" | "run.split_brain_conflict" | "question" | "question.*" | "question.asked" | "question.answered" | "question.expired" | "budget" | "budget.*" | "budget.alert" | "agent" | "agent.*" | "agent.status_changed")[];
                /** @description Events that name the task. */
                taskId?: string;
                /** @description Events that name the agent. */
                agentId?: string;
                /** @description Events of tasks of the project, and of its own budget. */
                projectId?: string;
            };
            header: {
                "last-event-id": string;
                /** @description Resume behind this id: what was missed comes first. */
                "Last-Event-ID"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, as they happen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    issueStreamTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamTicket"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followTaskLogs: {
        parameters: {
            query?: {
                /** @description Resume behind this id, as the header Last-Event-ID does, which counts when both are there. */
                lastEventId?: string;
                /** @description Instead of a token, for browsers: of `POST /events/tickets`. */
                ticket?: string;
                /** @description This level and those above it. */
                level?: "DEBUG" | "INFO" | "WARN" | "ERROR" | "CRITICAL";
                event?: string;
            };
            header: {
                "last-event-id": string;
                /** @description Resume behind this id: what was missed comes first. */
                "Last-Event-ID"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Entries of the log, as they are written. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSystemHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemHealth"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsage: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description What each item sums up. Default: day */
                groupBy?: "day" | "agent" | "task" | "project" | "model";
                /** @description The first day, in UTC. Default: 29 days before the last */
                from?: string;
                /** @description The last day, in UTC. Default: today */
                to?: string;
                /** @description Usage of tasks that were in the project at that time */
                projectId?: string;
                /** @description With groupBy=day */
                agentId?: string;
                /** @description With groupBy=day */
                taskId?: string;
                /** @description With groupBy=day */
                model?: string;
                /** @description csv: all items as a file, whatever `limit` and `cursor` say; so does Accept: text/csv */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
                    "text/csv": string;
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEstimateReport: {
        parameters: {
            query?: {
                /** @description Tasks that have completed at this time or later; 30 days before `to` when left out */
                from?: string;
                /** @description Tasks that have completed before this time; now when left out. 366 days after `from` at most */
                to?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EstimateReport"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsageCosts: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description task when left out */
                groupBy?: "task" | "project";
                /** @description Tasks that have completed at this time or later; 30 days before `to` when left out */
                from?: string;
                /** @description Tasks that have completed before this time; now when left out. 366 days after `from` at most */
                to?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageCostPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listModelPrices: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                /** @description The prices under its name, and under the shorter ones that it may have them by */
                model?: string;
                /** @description The prices that hold at this time; else all */
                at?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPricePage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createModelPrice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateModelPrice"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPrice"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getModelRouting: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelRouting"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    setModelRouting: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetModelRouting"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelRouting"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getModelRoutingPreview: {
        parameters: {
            query?: {
                /** @description Left out: of one that no rule names */
                taskType?: string;
                /** @description 5 by default, as of tasks */
                priority?: number;
                estimatedComplexity?: number;
                estimatedTokens?: string;
                projectId?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelChoice"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getModelRoutingSavings: {
        parameters: {
            query?: {
                /** @description 30 days before `to` by default */
                from?: string;
                /** @description Itself not included; now by default */
                to?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutingSavings"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listProviderLimits: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderLimitList"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeProviderLimit: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderLimit"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
                scope?: "global" | "project" | "milestone" | "task";
                scopeId?: string;
                /** @description Only those whose period is now */
                active?: boolean;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBudget"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that the change is meant for, as the ETag gave it: `"3"`. */
                "If-Match"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeBudget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reallocateBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible characters; repeats within 24 hours get the first answer. */
                "Idempotency-Key"?: string;
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReallocateBudget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reallocation"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listBudgetAlerts: {
        parameters: {
            query?: {
                /** @description How many items a page has at most. */
                limit?: number;
                /** @description `nextCursor` of the previous page, as it is. */
                cursor?: string;
            };
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetAlertPage"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getProjection: {
        parameters: {
            query?: never;
            header?: {
                /** @description The workspace to act in. Users send it, unless the path names one; all other credentials belong to one workspace, and may name that one. */
                "X-Workspace-Id"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projection"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendGatewayHeartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GatewayHeartbeatRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewayHeartbeatAnswer"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportSessions"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionReportResults"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getGatewaySignals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GatewaySignalsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewaySignals"];
                };
            };
            /** @description A refusal */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendTaskCreated: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.created",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "newStatus": "PENDING",
                 *       "version": 1
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "task.created";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * @description the status that it has
                     * @enum {string}
                     */
                    newStatus: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /** @description of the task, which each change raises */
                    version: number;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendTaskStatusChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.status_changed",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "previousStatus": "RUNNING",
                 *       "newStatus": "ABORTED",
                 *       "version": 3,
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "reason": "timeout",
                 *       "retryAt": "2026-01-31T12:05:00.000Z"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "task.status_changed";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * @description the status before
                     * @enum {string}
                     */
                    previousStatus: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /**
                     * @description the status that it has
                     * @enum {string}
                     */
                    newStatus: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /** @description of the task, which each change raises */
                    version: number;
                    /**
                     * Format: uuid
                     * @description the run
                     */
                    runId: string | null;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string | null;
                    /** @description why, in one word: `agent_stale`, `timeout` … */
                    reason: string | null;
                    /**
                     * Format: date-time
                     * @description when it is tried again by itself
                     */
                    retryAt: string | null;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendTaskUpdated: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.updated",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "status": "PENDING",
                 *       "changed": [
                 *         "priority"
                 *       ],
                 *       "version": 3
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "task.updated";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * @description the status that it has
                     * @enum {string}
                     */
                    status: "PENDING" | "ASSIGNED" | "RUNNING" | "PAUSED" | "ABORTED" | "FAILED" | "COMPLETED" | "ARCHIVED";
                    /** @description the names of the fields that changed */
                    changed: string[];
                    /** @description of the task, which each change raises */
                    version: number;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendTaskProgress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.progress",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "progressPercent": 40,
                 *       "currentStep": "running the tests",
                 *       "checkpoint": false
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "task.progress";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run
                     */
                    runId: string;
                    /** @description 0 to 100 */
                    progressPercent: number | null;
                    /** @description what it is at */
                    currentStep: string | null;
                    /** @description it has saved a checkpoint */
                    checkpoint: boolean;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendTaskDependencyCycle: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "task.dependency_cycle",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "path": [
                 *         "0198c5a0-1111-7000-8000-000000000001"
                 *       ],
                 *       "taskIds": [
                 *         "0198c5a0-1111-7000-8000-000000000001"
                 *       ],
                 *       "length": 2,
                 *       "ownerIds": [
                 *         "0198c5a0-4444-7000-8000-000000000001"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "task.dependency_cycle";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the first of them
                     */
                    taskId: string;
                    /** @description the tasks, each of which waits for the next */
                    path: string[];
                    /** @description the same, each once */
                    taskIds: string[];
                    /** @description how many they are */
                    length: number;
                    /** @description the owners of the workspace */
                    ownerIds: string[];
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendRunStateChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "run.state_changed",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "generation": 1,
                 *       "previousState": "WORKING",
                 *       "newState": "FAILED",
                 *       "version": 3,
                 *       "reason": "timeout"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "run.state_changed";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the run
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /** @description counts the runs of the task */
                    generation: number;
                    /**
                     * @description the state before
                     * @enum {string}
                     */
                    previousState: "ASSIGNED" | "WORKING" | "IN_REVIEW" | "APPROVED" | "STALE" | "COMPLETED" | "FAILED" | "RELEASED";
                    /**
                     * @description the state that it has
                     * @enum {string}
                     */
                    newState: "ASSIGNED" | "WORKING" | "IN_REVIEW" | "APPROVED" | "STALE" | "COMPLETED" | "FAILED" | "RELEASED";
                    /** @description of the run */
                    version: number;
                    /** @description why it ended */
                    reason: string | null;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendRunHungWarning: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "run.hung_warning",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "estimatedCompletionAt": "2026-01-31T11:30:00+00:00",
                 *       "lastProgressAt": "2026-01-31T11:20:00+00:00",
                 *       "abortsAt": "2026-01-31T12:05:00.000Z"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "run.hung_warning";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /**
                     * Format: date-time
                     * @description when it should have been done
                     */
                    estimatedCompletionAt: string;
                    /**
                     * Format: date-time
                     * @description when it made progress last
                     */
                    lastProgressAt: string | null;
                    /**
                     * Format: date-time
                     * @description when it is aborted unless it makes some
                     */
                    abortsAt: string;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendRunSplitBrainConflict: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "run.split_brain_conflict",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "run.split_brain_conflict";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run that is told to stop
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /** @description of that run */
                    generation?: number;
                    /** @description why it had ended */
                    endReason?: string | null;
                    /**
                     * Format: uuid
                     * @description the run that holds the task
                     */
                    newerRunId?: string;
                    /**
                     * Format: uuid
                     * @description its agent
                     */
                    newerAgentId?: string;
                    /** @description its generation */
                    newerGeneration?: number;
                    /** @description the gateway of a second session of one run */
                    gatewayId?: string;
                    /** @description the gateway whose session it is */
                    rightfulGatewayId?: string;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendQuestionAsked: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "question.asked",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "questionId": "0198c5a0-4444-7000-8000-000000000001",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "prompt": "Shall it go out today?",
                 *       "choices": [
                 *         "yes"
                 *       ],
                 *       "freeText": false,
                 *       "deadlineAt": "2026-01-31T12:05:00.000Z",
                 *       "onDeadline": "default"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "question.asked";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the question
                     */
                    questionId: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run that asked
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /** @description the question itself */
                    prompt: string;
                    /** @description the answers to choose from; none: any text */
                    choices: string[];
                    /** @description an answer may be another text than a choice */
                    freeText: boolean;
                    /**
                     * Format: date-time
                     * @description until when it can be answered
                     */
                    deadlineAt: string;
                    /**
                     * @description what happens then
                     * @enum {string}
                     */
                    onDeadline: "default" | "fail";
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendQuestionAnswered: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "question.answered",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "questionId": "0198c5a0-4444-7000-8000-000000000001",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "prompt": "Shall it go out today?",
                 *       "answer": "yes",
                 *       "answeredBy": "user:0198c5a0-4444-7000-8000-000000000001"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "question.answered";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the question
                     */
                    questionId: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run that asked
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /** @description the question itself */
                    prompt: string;
                    /** @description the answer */
                    answer: string;
                    /** @description who answered */
                    answeredBy: string;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendQuestionExpired: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "question.expired",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "questionId": "0198c5a0-4444-7000-8000-000000000001",
                 *       "taskId": "0198c5a0-1111-7000-8000-000000000001",
                 *       "runId": "0198c5a0-2222-7000-8000-000000000001",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "prompt": "Shall it go out today?",
                 *       "onDeadline": "default",
                 *       "answer": "no"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "question.expired";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the question
                     */
                    questionId: string;
                    /**
                     * Format: uuid
                     * @description the task
                     */
                    taskId: string;
                    /**
                     * Format: uuid
                     * @description the run that asked
                     */
                    runId: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /** @description the question itself */
                    prompt: string;
                    /**
                     * @description what has happened: its task goes on with the default, or has failed
                     * @enum {string}
                     */
                    onDeadline: "default" | "fail";
                    /** @description the default, where the task goes on with it */
                    answer: string | null;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendBudgetAlert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "budget.alert",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "taskId": null,
                 *       "level": "warning",
                 *       "threshold": 75,
                 *       "percentUsed": 76,
                 *       "scope": "project",
                 *       "scopeId": "0198c5a0-4444-7000-8000-000000000001",
                 *       "budgetId": "0198c5a0-4444-7000-8000-000000000001",
                 *       "allocated": "1000000",
                 *       "consumed": "760000",
                 *       "message": "75 % of the budget of the project is used"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "budget.alert";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the task, where the budget is one’s
                     */
                    taskId: string | null;
                    /**
                     * @description `critical` at 100 %
                     * @enum {string}
                     */
                    level: "warning" | "critical";
                    /** @description the step that was reached */
                    threshold: number;
                    /** @description how much is used */
                    percentUsed: number;
                    /**
                     * @description what the budget is of
                     * @enum {string}
                     */
                    scope: "global" | "project" | "milestone" | "task";
                    /**
                     * Format: uuid
                     * @description its id
                     */
                    scopeId: string;
                    /**
                     * Format: uuid
                     * @description the budget
                     */
                    budgetId: string;
                    /** @description tokens, as digits */
                    allocated: string;
                    /** @description tokens, as digits */
                    consumed: string;
                    /** @description a sentence for people */
                    message: string;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    sendAgentStatusChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "agent.status_changed",
                 *       "workspaceId": "0198c5a0-0000-7000-8000-000000000001",
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "agentId": "0198c5a0-3333-7000-8000-000000000001",
                 *       "previousStatus": "WORKING",
                 *       "newStatus": "ERROR",
                 *       "reason": "stale",
                 *       "version": 3
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    event: "agent.status_changed";
                    /**
                     * Format: uuid
                     * @description the workspace
                     */
                    workspaceId: string;
                    /**
                     * Format: date-time
                     * @description when it happened
                     */
                    timestamp: string;
                    /**
                     * Format: uuid
                     * @description the agent
                     */
                    agentId: string;
                    /**
                     * @description the status before
                     * @enum {string}
                     */
                    previousStatus: "STARTING" | "IDLE" | "WORKING" | "DRAINING" | "ERROR" | "TERMINATED";
                    /**
                     * @description the status that it has
                     * @enum {string}
                     */
                    newStatus: "STARTING" | "IDLE" | "WORKING" | "DRAINING" | "ERROR" | "TERMINATED";
                    /** @description why */
                    reason: string | null;
                    /** @description of the agent */
                    version: number;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was not taken. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
