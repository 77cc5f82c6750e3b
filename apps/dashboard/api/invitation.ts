/** The storage key of an invitation's token in this tab, which outlives a sign-in elsewhere. */
const STORAGE_KEY = 'drover.invitation';
const PATH = '/invitation';

/** Moves the token of an invitation link from the address, which the history keeps, to this tab. */
export function takeInvitation(): void {
  if (location.pathname !== PATH || location.hash === '') return;
  sessionStorage.setItem(STORAGE_KEY, location.hash.slice(1));
  history.replaceState(history.state, '', PATH);
}

/** The token of the invitation that this tab is about to answer. */
export function openInvitation(): string | undefined {
  return sessionStorage.getItem(STORAGE_KEY) ?? undefined;
}

export function closeInvitation(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}
