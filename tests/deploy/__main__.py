"""Write the manifests that are made from the chart anew."""

from tests.deploy.manifests import make_files

for path, text in make_files():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
