import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeInvitation } from './api/invitation.js';
import { session } from './api/session.js';
import { Notices } from './components/notices.js';
import { applyTheme } from './components/theme.js';
import { loadAllPages, router } from './router.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/conversation.css';

applyTheme();
takeInvitation();

const queries = new QueryClient({
  defaultOptions: {
    // The API client retries by itself, and the stream invalidates outdated data.
    queries: { retry: false, staleTime: 10_000, refetchOnWindowFocus: true },
  },
});
// The next user must not see the data of the previous one.
session.subscribe(() => {
  if (session.state === 'signed-out') queries.clear();
});
void session.restore();

// Safari has no idle callbacks.
const whenIdle = window.requestIdleCallback ?? setTimeout;
window.addEventListener('load', () => whenIdle(loadAllPages));

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
      <Notices />
    </QueryClientProvider>
  </StrictMode>,
);
