import { Component, type ReactNode, startTransition, useEffect, useState } from 'react';
import { NavigationContext } from '@/components/navigation';
import { LanguageContext } from '@/i18n/language';
import { SiteLayout } from '@/layout/site-layout';
import type { Router, Shown } from '@/lib/router';
import type { Page } from '@/routes';
import { UnexpectedErrorScreen } from '@/screens/unexpected-error/unexpected-error-screen';

/** The site in a browser: shows the router's page. */
export function Application({ router }: { router: Router<Page> }) {
  const [shown, setShown] = useState(router.shown);
  // In a transition the old page stays usable until React has rendered the new one.
  useEffect(() => router.subscribe(() => startTransition(() => setShown(router.shown))), [router]);
  return <ShownPage shown={shown} navigate={router.navigate} />;
}

interface ShownPageProps {
  shown: Shown<Page>;
  navigate: (href: string) => void;
}

export function ShownPage({ shown, navigate }: ShownPageProps) {
  const { place, arrival, page, failure } = shown;
  const { language, Screen, data } = page;
  return (
    <LanguageContext value={language}>
      <NavigationContext value={{ place, arrival, data, navigate }}>
        {failure ? (
          <UnexpectedErrorScreen error={failure.error} />
        ) : (
          <ErrorBoundary shown={shown}>
            <SiteLayout>
              <Screen />
            </SiteLayout>
          </ErrorBoundary>
        )}
      </NavigationContext>
    </LanguageContext>
  );
}

interface BoundaryProps {
  shown: Shown<Page>;
  children: ReactNode;
}

interface BoundaryState {
  shown: Shown<Page>;
  failure?: { error: unknown };
}

/** Shows an error of its children until another page is shown. */
class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { shown: this.props.shown };

  static getDerivedStateFromError(error: unknown): Pick<BoundaryState, 'failure'> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps({ shown }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return shown === state.shown ? null : { shown, failure: undefined };
  }

  override render() {
    const { failure } = this.state;
    return failure ? <UnexpectedErrorScreen error={failure.error} /> : this.props.children;
  }
}
