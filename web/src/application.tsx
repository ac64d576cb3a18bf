import { Component, type ReactNode } from 'react';
import { type Location, useLocation, useRoutes } from 'react-router-dom';
import { LanguageContext, languageOf } from '@/i18n/language';
import { type Pages, PagesContext, routes } from '@/routes';
import { UnexpectedErrorScreen } from '@/screens/unexpected-error/unexpected-error-screen';

/** The site below a router, in the browser or while it is prerendered. */
export function Application({ pages }: { pages: Pages }) {
  return (
    <PagesContext value={pages}>
      <ErrorBoundary location={useLocation()}>
        <CurrentRoute />
      </ErrorBoundary>
    </PagesContext>
  );
}

function CurrentRoute() {
  return useRoutes(routes);
}

interface BoundaryProps {
  location: Location;
  children: ReactNode;
}

interface BoundaryState {
  location: Location;
  failure?: { error: unknown };
}

/** Shows an error of a page or of its code until the reader goes elsewhere. */
class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { location: this.props.location };

  static getDerivedStateFromError(error: unknown): Pick<BoundaryState, 'failure'> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps({ location }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return location === state.location ? null : { location, failure: undefined };
  }

  override render() {
    const { failure, location } = this.state;
    if (!failure) return this.props.children;
    return (
      <LanguageContext value={languageOf(location.pathname)}>
        <UnexpectedErrorScreen error={failure.error} />
      </LanguageContext>
    );
  }
}
