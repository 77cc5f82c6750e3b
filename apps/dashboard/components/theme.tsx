import { useState } from 'react';
import { Button } from './parts.js';
import { Icon } from './icons.js';

type Theme = 'light' | 'dark';
const STORAGE_KEY = 'drover.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function currentTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY);
  if (stored === 'light' || stored === 'dark') return stored;
  return prefersDark.matches ? 'dark' : 'light';
}

/** Applies the theme of the user, or the system's theme by default. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = currentTheme();
}

prefersDark.addEventListener('change', applyTheme);

export function ThemeSwitch() {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  function toggle(): void {
    // If the choice equals the system's theme, the page follows the system again.
    if ((other === 'dark') === prefersDark.matches) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, other);
    applyTheme();
    setTheme(other);
  }
  return (
    <Button look="quiet" onClick={toggle} aria-label={`Use ${other} theme`}>
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </Button>
  );
}
