import { useEffect, useRef } from 'react';

/** Calls a function for a plain key, except while somebody types or a dialog is open. */
export function useKeys(keys: Record<string, () => unknown>): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return;
      if (target.closest('input, textarea, select, dialog, [contenteditable]')) return;
      if (document.querySelector('dialog[open]')) return;
      const call = latest.current[key];
      if (call === undefined) return;
      event.preventDefault();
      call();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
