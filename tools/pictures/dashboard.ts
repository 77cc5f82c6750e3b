import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumOptions } from '../shared/chromium.js';
import type { Stage } from '../demo/stage.js';

const VIEWPORT = { width: 1280, height: 800 };
/** By then charts are drawn and requests answered. The streams never end. */
const SETTLED_MS = 1_500;

export type Theme = 'light' | 'dark';

/** Shows the dashboard in a window for each theme. */
export class Dashboard {
  private constructor(
    private readonly browser: Browser,
    private readonly pages: Record<Theme, Page>,
  ) {}

  static async open(stage: Stage): Promise<Dashboard> {
    const browser = await chromium.launch(await chromiumOptions());
    const light = await signedIn(browser, stage, 'light');
    const dark = await signedIn(browser, stage, 'dark');
    return new Dashboard(browser, { light, dark });
  }

  /** Takes a picture of the page at the path. @param arrange prepares the loaded page */
  async photograph(
    theme: Theme,
    path: string,
    file: string,
    arrange?: (page: Page) => Promise<void>,
  ): Promise<void> {
    const page = this.pages[theme];
    // Navigates within the page: a new document would ask for the password again.
    const to = `history.pushState({}, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`;
    await page.evaluate(to);
    await page.waitForTimeout(SETTLED_MS);
    await arrange?.(page);
    await page.screenshot({ path: file, animations: 'disabled' });
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** Opens the first tool call of a conversation, and shows it from its beginning. */
export async function openConversation(page: Page): Promise<void> {
  const conversation = page.getByRole('list', { name: 'Conversation with the agent' });
  await conversation.locator('.tool summary').first().click();
  await conversation.evaluate((list) => list.scrollTo({ top: 0 }));
  const heading = page.getByRole('heading', { name: 'Conversation', exact: true });
  await heading.evaluate((title) => title.scrollIntoView({ block: 'start' }));
}

async function signedIn(
  browser: Browser,
  { address, administrator }: Stage,
  colorScheme: Theme,
): Promise<Page> {
  const options: BrowserContextOptions = { baseURL: address, colorScheme, viewport: VIEWPORT };
  const page = await (await browser.newContext(options)).newPage();
  await page.goto('/');
  await page.getByLabel('Email address').fill(administrator.email);
  await page.getByLabel('Password').fill(administrator.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.getByLabel('Workspace').selectOption({ label: 'Demo' });
  return page;
}
