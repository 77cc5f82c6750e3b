/** The URLs of three roles for one database. */
export interface DatabaseUrls {
  ownerUrl: string;
  appUrl: string;
  serviceUrl: string;
}

export function databaseUrls(
  ownerUrl: string,
  passwords: { app: string; service: string },
): DatabaseUrls {
  return {
    ownerUrl,
    appUrl: signingIn(ownerUrl, 'drover_app', passwords.app),
    serviceUrl: signingIn(ownerUrl, 'drover_service', passwords.service),
  };
}

function signingIn(url: string, user: string, password: string): string {
  const changed = new URL(url);
  changed.username = user;
  changed.password = password;
  return changed.href;
}
