import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hash } from '@node-rs/argon2';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumOptions } from '../../../tools/shared/chromium.js';
import { aUser } from '../../support/factories.js';
import type { TestFleet } from '../../support/fleet.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PASSWORD = 'a password that is long enough';
const WAIT_MS = 120_000;
/** Themes and widths that every page must be readable in. The last one is that of a new window. */
const LOOKS = [
  ['dark', 360],
  ['light', 360],
  ['dark', 1280],
  ['light', 1280],
] as const;

export interface Person {
  email: string;
  password: string;
}

/** A user who can sign in, with a role in each of the workspaces. */
export async function aPerson(
  { db }: TestFleet,
  workspaceIds: string[],
  role = 'OWNER',
): Promise<Person> {
  const email = `person-${workspaceIds.length}-${role.toLowerCase()}@example.test`;
  const userId = await aUser(db.owner, { email });
  await db.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    userId,
    await hash(PASSWORD),
  ]);
  for (const workspaceId of workspaceIds)
    await db.owner.query(
      'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)',
      [workspaceId, userId, role],
    );
  return { email, password: PASSWORD };
}

/** A browser, and what its pages complained of. */
export class TestBrowser {
  readonly complaints: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly address: string,
  ) {}

  static async start(address: string): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch(await chromiumOptions()), address);
  }

  /** A window with nothing of others. A wait in it is bounded for the slowest machine alone. */
  async open(options: { dark?: boolean; width?: number } = {}): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: this.address,
      colorScheme: options.dark ? 'dark' : 'light',
      viewport: { width: options.width ?? 1280, height: 900 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Answers that are refusals are told here too, and pages show them.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.address) && !request.url().startsWith('data:'))
        this.complaints.push(`asked ${request.url()}`);
    });
    return page;
  }

  async signedIn(person: Person, options?: { dark?: boolean; width?: number }): Promise<Page> {
    const page = await this.open(options);
    await page.goto('/');
    await signIn(page, person);
    return page;
  }

  stop(): Promise<void> {
    return this.browser.close();
  }
}

/**
 * The server limits the sign-ins of one person in a minute: tests of one file share a page, or have
 * a person each.
 */
export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  const [answer] = await Promise.all([
    page.waitForResponse('**/auth/login'),
    page.getByRole('button', { name: 'Sign in' }).click(),
  ]);
  if (!answer.ok()) throw new Error(`The sign-in was refused: ${await answer.text()}`);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** What axe finds on the page in each theme and width, one line each. */
export async function findingsInAllLooks(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    await page.setViewportSize({ width, height: 900 });
    const findings = await findingsOn(page);
    found.push(...findings.map((finding) => `${colorScheme}, ${width} wide: ${finding}`));
  }
  return found;
}

/** What axe finds on the page as it is, one line each. */
export async function findingsOn(page: Page): Promise<string[]> {
  // By the debugger: the page's policy allows no script of others.
  const debug = await (page.context() as BrowserContext).newCDPSession(page);
  await debug.send('Runtime.evaluate', { expression: AXE });
  await debug.detach();
  return page.evaluate(async () => {
    interface Axe {
      run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}
