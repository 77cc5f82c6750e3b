import { useState } from 'react';
import { Button } from './parts.js';
import { Icon } from './icons.js';

type Theme = 'light' | 'dark';
const KEPT = 'drover.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function current(): Theme {
  const kept = localStorage.getItem(KEPT);
  if (kept === 'light' || kept === 'dark') return kept;
  return prefersDark.matches ? 'dark' : 'light';
}

/** Shows the theme that the user has chosen, else that of the system, also when that changes. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = current();
}

prefersDark.addEventListener('change', applyTheme);

export function ThemeSwitch() {
  const [theme, setTheme] = useState(current);
  const other = theme === 'dark' ? 'light' : 'dark';
  function change(): void {
    // Chosen as the system has it, it follows the system again.
    if ((other === 'dark') === prefersDark.matches) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, other);
    applyTheme();
    setTheme(other);
  }
  return (
    <Button look="quiet" onClick={change} aria-label={`Use the ${other} theme`}>
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </Button>
  );
}
